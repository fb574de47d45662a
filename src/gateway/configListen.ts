import { resolve } from "node:path";
import { dialects, type DialectName } from "../mcp/server/dialect.ts";
import type { ConfigValue } from "./configValue.ts";
import type { ListenAddress, ListenConfig } from "./types.ts";

export const defaultAddress: ListenAddress = { host: "127.0.0.1", port: 7070 };

/** With a `message`: why the address cannot be used, and what to write instead. */
export type ParsedAddress = ListenAddress | { readonly message: string };

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

const known = [
  "http",
  "sse",
  "tcp",
  "unix",
  "ws",
  "stdio",
  "dialect",
  "allowedHosts",
  "allowedOrigins",
] as const;

/** The section `listen`; `folder` is what a relative path is relative to. HTTP is on where no door is named. */
export function readListen(section: ConfigValue | undefined, folder: string): ListenConfig {
  const fields = section?.fields(known) ?? {};
  const stdio = fields.stdio?.boolean() ?? false;
  const named = stdio || fields.http || fields.tcp || fields.unix || fields.ws;
  const http = fields.http ? readAddress(fields.http) : named ? undefined : defaultAddress;
  const tcp = fields.tcp && readAddress(fields.tcp);
  const ws = fields.ws && readAddress(fields.ws);
  const unix = fields.unix?.filePath();
  const sse = fields.sse?.boolean() ?? false;
  if (sse && !http) fields.sse?.fail("is about HTTP, and no HTTP is served. Remove it.");
  return {
    ...(http && { http }),
    ...(tcp && { tcp }),
    ...(ws && { ws }),
    ...(unix !== undefined && { unix: resolve(folder, unix) }),
    stdio,
    sse,
    dialect: fields.dialect?.oneOf(Object.keys(dialects) as DialectName[]) ?? "mcp",
    allowedHosts: readNames(fields.allowedHosts, hostForm, 'a host, as "gate.test" or "gate.test:7070"'),
    allowedOrigins: readNames(
      fields.allowedOrigins,
      originForm,
      'an origin without a path, as "https://gate.test"',
    ),
  };
}

function readAddress(value: ConfigValue): ListenAddress | undefined {
  if (value.raw === false) return undefined;
  if (value.type !== "number" && value.type !== "string")
    return value.fail('must be a port, "host:port", or false for none.');
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
