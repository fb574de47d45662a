import { localPrincipal } from "../core/principal.ts";
import type { Doors, NetworkDoorOptions } from "../gateway/doors.ts";
import { builtinNamespace, type Gateway, type GatewayConfig, type UpstreamStatus } from "../gateway/types.ts";
import { connectLines } from "./connectLines.ts";
import type { Io, Output } from "./io.ts";
import { styleOf, table, writeLine, type Style } from "./output.ts";
import { describeUpstream } from "./upstreamLine.ts";

export interface Announcement {
  readonly io: Io;
  readonly gateway: Gateway;
  readonly config: GatewayConfig;
  readonly doors: Doors;
  readonly stdio: boolean;
  /** What the doors on network addresses want. */
  readonly tokens: NetworkDoorOptions["tokens"];
  /** Of the configuration; undefined for the defaults. */
  readonly file: string | undefined;
}

/**
 * Tells the person who started it what is served and how to connect, then how each upstream goes. Returns how
 * to stop.
 */
export function announce(announcement: Announcement): () => void {
  const { io, gateway, config, doors, stdio, file } = announcement;
  // Standard output carries nothing but protocol where a client is on it.
  const output = stdio ? io.stderr : io.stdout;
  const style = styleOf(output, io.env);
  const say = (line: string): void => writeLine(output, line);
  const { url, tcp, ws, unix, ideLock } = doors;
  const addresses = [url, tcp, ws, unix].filter((address) => address !== undefined);
  const all = stdio ? [...addresses, "standard input and output"] : addresses;
  say(style.bold(`Toolgate ${io.version} serves MCP on ${all.join(" and ")}`));
  say(style.dim(`Configuration: ${file ?? "none, so the file tools work in the current folder"}`));
  if (url !== undefined || ws !== undefined) for (const line of describePaths(config)) say(`  ${line}`);
  if (ideLock !== undefined)
    say(`Claude Code finds it by ${ideLock}: type /ide in a session in the workspace.`);
  if (addresses.length > 0) for (const line of describeClients(addresses, announcement, style)) say(line);
  return followUpstreams(gateway, output, style);
}

function describePaths(config: GatewayConfig): string[] {
  const own = (namespace: string): string[] => [
    `/mcp/${namespace}`,
    `${namespace} alone, under its own names`,
  ];
  const namespaces = config.upstreams.map(({ namespace }) => namespace);
  if (config.tools) namespaces.unshift(builtinNamespace);
  return table([["/mcp", "everything, as NAMESPACE__TOOL"], ...namespaces.map(own)], undefined);
}

function describeClients(addresses: readonly string[], { tokens }: Announcement, style: Style): string[] {
  const made = tokens === "none" ? undefined : tokens.get(localPrincipal.id);
  // A token from the configuration is its owner's to hand out: it is not printed.
  const token = tokens === "none" ? undefined : (made ?? "TOKEN");
  const names = tokens === "none" || made !== undefined ? [] : [...tokens.keys()];
  const instead = names.length === 0 ? "" : `, with the token of ${names.join(" or ")} for TOKEN`;
  const linesFor = (url: string): string[] => [
    // Of one door it is clear where a line leads.
    ...(addresses.length > 1 ? ["", style.dim(`To ${url}:`)] : []),
    ...connectLines({ url, ...tokenFor(url, token) }).flatMap(({ client, how, text }) => [
      "",
      `${style.bold(client)} ${style.dim(`(${how})`)}`,
      text,
    ]),
  ];
  return ["", `Connect a client${instead}:`, ...addresses.flatMap(linesFor), ""];
}

/** A Unix socket wants none: who may open its file may come in. */
function tokenFor(url: string, token: string | undefined): { token?: string } {
  return token === undefined || url.startsWith("unix:") ? {} : { token };
}

/** Says how each upstream is now, and when that changes. What is tried again and fails as before is not news. */
function followUpstreams(gateway: Gateway, output: Output, style: Style): () => void {
  const told = new Map<string, string>();
  const tell = (status: UpstreamStatus): void => {
    const line = describeUpstream(status, style);
    const last = told.get(status.namespace);
    if (line === last || (status.state === "starting" && last !== undefined)) return;
    told.set(status.namespace, line);
    writeLine(output, line);
  };
  gateway.upstreams().forEach(tell);
  return gateway.onUpstream(tell);
}
