import { dialects, type DialectName } from "../mcp/server/dialect.ts";
import type { ConfigValue } from "./configValue.ts";
import type { HttpAddress, ListenConfig } from "./types.ts";

export const defaultAddress: HttpAddress = { host: "127.0.0.1", port: 7070 };

/** With a `message`: why the address cannot be used, and what to write instead. */
export type ParsedAddress = HttpAddress | { readonly message: string };

/** Reads `PORT`, `HOST:PORT` or `[IPV6]:PORT`. Only loopback is taken. */
export function parseAddress(text: string): ParsedAddress {
  const match = /^(?:(?:(?<host>[^:[\]]+)|\[(?<ipv6>[^[\]]+)\]):)?(?<port>\d{1,5})$/.exec(text);
  const { host, ipv6, port } = match?.groups ?? {};
  if (port === undefined || Number(port) > 65_535)
    return { message: 'must be a port from 0 to 65535, or "host:port", as 7070 or "127.0.0.1:7070".' };
  const address = { host: host ?? ipv6 ?? defaultAddress.host, port: Number(port) };
  return isLoopback(address.host) ? address : { message: beyondLoopback };
}

export const beyondLoopback =
  "names an address that other machines can reach: a policy is needed for that, and this version has none. " +
  "Use 127.0.0.1, [::1] or localhost.";

export function isLoopback(host: string): boolean {
  const bare = host.toLowerCase();
  return bare === "localhost" || bare === "::1" || /^127(\.\d{1,3}){3}$/.test(bare);
}

/** The section `listen`. Without an address HTTP is on where standard input is not named either. */
export function readListen(section: ConfigValue | undefined): ListenConfig {
  const fields = section?.fields(["http", "stdio", "dialect", "allowedHosts", "allowedOrigins"]) ?? {};
  const stdio = fields.stdio?.boolean() ?? false;
  const http = fields.http ? readHttp(fields.http) : stdio ? undefined : defaultAddress;
  return {
    ...(http && { http }),
    stdio,
    dialect: fields.dialect?.oneOf(Object.keys(dialects) as DialectName[]) ?? "mcp",
    allowedHosts: readNames(fields.allowedHosts, hostForm, 'a host, as "gate.test" or "gate.test:7070"'),
    allowedOrigins: readNames(
      fields.allowedOrigins,
      originForm,
      'an origin without a path, as "https://gate.test"',
    ),
  };
}

function readHttp(value: ConfigValue): HttpAddress | undefined {
  if (value.raw === false) return undefined;
  if (value.type !== "number" && value.type !== "string")
    return value.fail('must be a port, "host:port", or false for no HTTP.');
  const text = value.type === "number" ? String(value.raw) : value.text();
  if (text === undefined) return undefined;
  const address = parseAddress(text);
  return "message" in address ? value.fail(address.message) : address;
}

const hostForm = /^([^\s:/@[\]]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i;
/** Browsers' extensions have schemes of their own. */
const originForm = /^[a-z][a-z0-9+.-]*:\/\/[^\s/@?#]+$/i;

function readNames(section: ConfigValue | undefined, form: RegExp, wanted: string): string[] {
  return (section?.items() ?? []).flatMap((item) => {
    const text = item.text();
    if (text !== undefined && form.test(text)) return [text];
    if (text !== undefined) item.fail(`must be ${wanted}.`);
    return [];
  });
}
