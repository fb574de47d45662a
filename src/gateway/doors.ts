import type { Readable, Writable } from "node:stream";
import type { Log } from "../core/effects.ts";
import { systemClock } from "../core/systemClock.ts";
import type { Endpoint } from "../wire/endpoint.ts";
import { bearer, noAuth } from "../transports/http/bearer.ts";
import type { Readiness } from "../transports/http/handler.ts";
import { listenHttp, type HttpListener } from "../transports/http/listen.ts";
import { serveStdio } from "../transports/stdio.ts";
import { beyondLoopback, isLoopback } from "./configListen.ts";
import type { Gateway, GatewayConfig, HttpAddress, UpstreamStatus } from "./types.ts";

export interface HttpDoorOptions extends HttpAddress {
  /** Each principal's bearer token; `none` lets everybody in as `local`. */
  readonly tokens: ReadonlyMap<string, string> | "none";
}

export interface DoorsOptions {
  readonly gateway: Gateway;
  readonly config: GatewayConfig;
  readonly log: Log;
  readonly http?: HttpDoorOptions;
  readonly stdio?: { readonly input: Readable; readonly output: Writable };
}

export interface Doors {
  /** Where HTTP is served, with its path: `http://127.0.0.1:7070/mcp`. */
  readonly url?: string;
  /** Resolves when the client on standard input is gone; never where there is none. */
  readonly stdioClosed: Promise<void>;
  /** Safe to call twice. */
  close(): Promise<void>;
}

export type OpenDoors = (options: DoorsOptions) => Promise<Doors>;

const mcpPath = "/mcp";

/** Opens the ways in. Rejects with an `Error` for a person if one cannot be opened, and then none is. */
export const openDoors: OpenDoors = async (options) => {
  const { gateway, config, log, stdio } = options;
  const endpoint = gateway.endpoint();
  if (!endpoint) throw new Error("The gateway serves nothing.");
  const http = options.http && (await openHttp(options, options.http));
  const limits = { log, maxMessageBytes: config.limits.messageBytes };
  const pipe = stdio && serveStdio(endpoint, { ...stdio, ...limits });
  return {
    ...(http && { url: http.url + mcpPath }),
    stdioClosed: pipe?.closed ?? new Promise(() => {}),
    close: async () => {
      await Promise.all([http?.close(), pipe?.close()]);
    },
  };
};

function openHttp({ gateway, config, log }: DoorsOptions, http: HttpDoorOptions): Promise<HttpListener> {
  const { host, port, tokens } = http;
  if (!isLoopback(host)) throw new Error(`"${host}" ${beyondLoopback}`);
  return listenHttp({
    host,
    port,
    clock: systemClock,
    log,
    route: (path) => route(gateway, path),
    authenticate: tokens === "none" ? noAuth : bearer(tokens),
    maxMessageBytes: config.limits.messageBytes,
    allowedHosts: config.listen.allowedHosts,
    allowedOrigins: config.listen.allowedOrigins,
    ready: () => readiness(gateway.upstreams()),
  });
}

/** `/mcp` is everything, `/mcp/<namespace>` one provider under its own names. */
function route(gateway: Gateway, path: string): Endpoint | undefined {
  if (path === mcpPath) return gateway.endpoint();
  const namespace = path.startsWith(`${mcpPath}/`) ? path.slice(mcpPath.length + 1) : "";
  return namespace === "" ? undefined : gateway.endpoint(namespace);
}

/** Ready once no upstream is still starting: one that failed is answered for, not waited for. */
function readiness(upstreams: readonly UpstreamStatus[]): Readiness {
  const count = (state: UpstreamStatus["state"]): number =>
    upstreams.filter((upstream) => upstream.state === state).length;
  const starting = count("starting");
  return {
    ok: starting === 0,
    detail: `upstreams: ${count("ready")} ready, ${starting} starting, ${count("failed")} failed`,
  };
}
