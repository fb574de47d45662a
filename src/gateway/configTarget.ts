import { resolve } from "node:path";
import { readEnv, readHeaders, readUrl } from "./configEntries.ts";
import type { ConfigValue } from "./configValue.ts";
import type {
  HttpUpstreamConfig,
  SocketTarget,
  SocketUpstreamConfig,
  StdioUpstreamConfig,
  UpstreamBase,
} from "./types.ts";

/** The fields of an entry that say how its server is reached. */
export const targetFields = ["command", "args", "env", "cwd", "url", "headers", "oauth", "type"] as const;

export type TargetFields = Partial<Record<(typeof targetFields)[number], ConfigValue>>;

type Own<Config> = Omit<Config, keyof UpstreamBase>;

/** Of a server that is started. Undefined: a mistake is reported. */
export function readCommand(
  command: ConfigValue,
  fields: TargetFields,
  folder: string,
): Own<StdioUpstreamConfig> | undefined {
  refuse(fields, ["headers", "oauth"], 'belongs to a server with a "url". Remove it.');
  const type = readType(fields, ["stdio"], 'a server with a "command"');
  const path = command.filePath();
  const rest = {
    args: fields.args?.texts({ allowEmpty: true }) ?? [],
    env: readEnv(fields.env),
    cwd: resolve(folder, fields.cwd?.filePath() ?? "."),
  };
  return type && path !== undefined ? { kind: "stdio", command: path, ...rest } : undefined;
}

/** Of a server that is served somewhere. Undefined: a mistake is reported, or a variable is not set. */
export function readAddress(
  url: ConfigValue,
  fields: TargetFields,
): Own<HttpUpstreamConfig> | Own<SocketUpstreamConfig> | undefined {
  refuse(fields, ["args", "env", "cwd"], 'belongs to a server with a "command". Remove it.');
  const headers = readHeaders(fields.headers);
  const address = readUrl(url);
  if (!address) {
    // Which it may be is not known, but a variable in it that is not set is.
    fields.type?.text();
    return undefined;
  }
  const { scheme, text } = address;
  if (scheme === "http") return readHttp(text, headers, fields);
  refuse(fields, ["oauth"], "works over HTTP only. Remove it.");
  const target = readSocket({ scheme, text }, headers, { ...fields, url });
  const type = readType(fields, [scheme], "this URL");
  return target && type ? { kind: "socket", target } : undefined;
}

function readHttp(
  url: string,
  headers: Readonly<Record<string, string>>,
  fields: TargetFields,
): Own<HttpUpstreamConfig> | undefined {
  const type = readType(fields, ["http", "streamable-http", "streamableHttp", "sse"], "this URL");
  const oauth = readOAuth(fields.oauth);
  if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization"))
    refuse(fields, ["oauth"], 'has no effect beside the header "Authorization". Remove one of them.');
  if (!type) return undefined;
  return { kind: "http", url, headers, ...(type === "sse" && { sse: true }), ...(oauth && { oauth }) };
}

function readOAuth(section: ConfigValue | undefined): HttpUpstreamConfig["oauth"] {
  const fields = section?.fields(["clientId", "clientSecret", "clientMetadataUrl", "scope"]);
  if (!fields) return undefined;
  const { clientId, clientSecret, clientMetadataUrl } = fields;
  if (clientSecret && !clientId) clientSecret.fail('needs the "clientId" that it is for.');
  const page = clientMetadataUrl?.text();
  if (page !== undefined && !/^https:\/\/[^/]+\/./.test(page))
    clientMetadataUrl?.fail('must be an "https://" address with a path.');
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value.text() ?? ""]));
}

function readSocket(
  { scheme, text }: { readonly scheme: SocketTarget["scheme"]; readonly text: string },
  headers: Readonly<Record<string, string>>,
  fields: TargetFields & { readonly url: ConfigValue },
): SocketTarget | undefined {
  if (scheme === "ws") return { scheme, url: text, headers };
  if (scheme === "unix") {
    refuse(fields, ["headers"], "cannot be sent over a Unix socket. Remove it.");
    const path = /^unix:(?:\/\/)?(?<path>\/(?!\/).*)$/is.exec(text)?.groups?.["path"];
    if (path !== undefined) return { scheme, path };
    return fields.url.fail('must be "unix:" and an absolute path, as "unix:/run/toolgate.sock".');
  }
  const token = readToken(headers, fields.headers);
  const { hostname, port, pathname, search, hash } = new URL(text);
  if (hostname === "" || port === "" || pathname + search + hash !== "")
    return fields.url.fail('must be a host and a port, as "tcp://127.0.0.1:7071".');
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return { scheme, host, port: Number(port), ...(token !== undefined && { token }) };
}

/** The one header that TCP, which has none, can stand for. */
function readToken(
  headers: Readonly<Record<string, string>>,
  section: ConfigValue | undefined,
): string | undefined {
  const { authorization, ...others } = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const token = /^bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  // An empty one is reported already, or wanted.
  if (Object.keys(others).length === 0 && (token !== undefined || !authorization)) return token;
  return section?.fail(
    'can hold only "Authorization": "Bearer ..." here: TCP has no headers. Remove the rest.',
  );
}

function refuse(fields: TargetFields, names: readonly (keyof TargetFields)[], message: string): void {
  for (const name of names) fields[name]?.fail(message);
}

/** What `type` says, or the first word that it could say. Undefined, once reported, if it says something else. */
function readType(fields: TargetFields, words: readonly string[], what: string): string | undefined {
  if (!fields.type) return words[0];
  const text = fields.type.text();
  if (text === undefined || words.includes(text)) return text;
  return fields.type.fail(`must be ${words.map((word) => `"${word}"`).join(" or ")} for ${what}.`);
}
