import type { Readable, Writable } from "node:stream";
import type { Log } from "../core/effects.ts";
import { systemClock } from "../core/systemClock.ts";
import type { Endpoint } from "../wire/endpoint.ts";
import { bearer, noAuth, type Authenticate } from "../transports/http/bearer.ts";
import type { Readiness } from "../transports/http/handler.ts";
import { listenHttp } from "../transports/http/listen.ts";
import { serveStdio } from "../transports/stdio.ts";
import { listenTcp } from "../transports/tcp.ts";
import { listenUnix } from "../transports/unix.ts";
import { listenWebSocket } from "../transports/websocket/listen.ts";
import { beyondLoopback, isLoopback } from "./configListen.ts";
import { ideDoor, type IdeOptions } from "./ideLock.ts";
import type { Gateway, GatewayConfig, ListenAddress, UpstreamStatus } from "./types.ts";

/** A door that other users of this machine, and web pages, can reach. */
export interface NetworkDoorOptions extends ListenAddress {
  /** Each principal's bearer token; `none` lets everybody in as `local`. */
  readonly tokens: ReadonlyMap<string, string> | "none";
}

export interface HttpDoorOptions extends NetworkDoorOptions {
  /** Also the deprecated HTTP+SSE. */
  readonly sse?: boolean;
}

export interface WebSocketDoorOptions extends NetworkDoorOptions {
  /** Present: a lock file announces the door as that of an editor. */
  readonly ide?: IdeOptions;
}

export interface DoorsOptions {
  readonly gateway: Gateway;
  readonly config: GatewayConfig;
  readonly log: Log;
  readonly http?: HttpDoorOptions;
  readonly tcp?: NetworkDoorOptions;
  readonly ws?: WebSocketDoorOptions;
  /** Of the socket file, absolute. */
  readonly unix?: string;
  readonly stdio?: { readonly input: Readable; readonly output: Writable };
}

export interface Doors {
  /** Where HTTP is served, with its path: `http://127.0.0.1:7070/mcp`. */
  readonly url?: string;
  /** `tcp://127.0.0.1:7071`. */
  readonly tcp?: string;
  /** With its path: `ws://127.0.0.1:7072/mcp`. */
  readonly ws?: string;
  /** `unix:/run/toolgate.sock`. */
  readonly unix?: string;
  /** The lock file that announces the WebSocket door. */
  readonly ideLock?: string;
  /** Resolves when the client on standard input is gone; never where there is none. */
  readonly stdioClosed: Promise<void>;
  /** Safe to call twice. */
  close(): Promise<void>;
}

export type OpenDoors = (options: DoorsOptions) => Promise<Doors>;

const mcpPath = "/mcp";

interface Door {
  readonly told: Omit<Partial<Doors>, "close">;
  close(): Promise<void>;
}

type OpenDoor = (options: DoorsOptions, endpoint: Endpoint) => Promise<Door | undefined>;

/** Opens the ways in. Rejects with an `Error` for a person if one cannot be opened, and then none is. */
export const openDoors: OpenDoors = async (options) => {
  const endpoint = options.gateway.endpoint();
  if (!endpoint) throw new Error("The gateway serves nothing.");
  const opened: Door[] = [];
  let told: Door["told"] = {};
  const close = async (): Promise<void> => void (await Promise.all(opened.map((door) => door.close())));
  try {
    // Standard input last: what comes from there is answered at once.
    for (const open of [openHttp, openTcp, openUnix, openWebSocket, openStdio]) {
      const door = await open(options, endpoint);
      if (!door) continue;
      opened.push(door);
      told = { ...told, ...door.told };
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { stdioClosed: new Promise(() => {}), ...told, close };
};

const openHttp: OpenDoor = async ({ gateway, http, ...options }) => {
  if (!http) return undefined;
  const listener = await listenHttp({
    ...network(http, options),
    ...names(options.config),
    route: (path) => route(gateway, path),
    authenticate: authenticator(http),
    sse: http.sse ?? false,
    ready: () => readiness(gateway.upstreams()),
  });
  return { told: { url: listener.url + mcpPath }, close: () => listener.close() };
};

const openTcp: OpenDoor = async ({ tcp, ...options }, endpoint) => {
  if (!tcp) return undefined;
  const listener = await listenTcp({
    ...network(tcp, options),
    endpoint,
    authenticate: authenticator(tcp),
  });
  return { told: { tcp: listener.url }, close: () => listener.close() };
};

const openUnix: OpenDoor = async ({ unix, log, config }, endpoint) => {
  if (unix === undefined) return undefined;
  const { messageBytes: maxMessageBytes } = config.limits;
  const listener = await listenUnix({ path: unix, endpoint, log, maxMessageBytes });
  return { told: { unix: listener.url }, close: () => listener.close() };
};

const openWebSocket: OpenDoor = async ({ gateway, ws, ...options }) => {
  if (!ws) return undefined;
  const authenticate = authenticator(ws);
  const ide = ws.ide && ideDoor(ws.ide);
  const listener = await listenWebSocket({
    ...network(ws, options),
    ...names(options.config),
    // Claude Code knows of no path.
    route: (path) => route(gateway, path === "/" ? mcpPath : path),
    authenticate: (headers) => ide?.authenticate(headers) ?? authenticate(headers.authorization),
  });
  const close = async (): Promise<void> => {
    await ide?.withdraw();
    await listener.close();
  };
  try {
    const ideLock = await ide?.announce(listener.port);
    return { told: { ws: listener.url + mcpPath, ...(ideLock !== undefined && { ideLock }) }, close };
  } catch (error) {
    await close();
    throw error;
  }
};

const openStdio: OpenDoor = async ({ stdio, log, config }, endpoint) => {
  if (!stdio) return undefined;
  const pipe = serveStdio(endpoint, { ...stdio, log, maxMessageBytes: config.limits.messageBytes });
  return { told: { stdioClosed: pipe.closed }, close: () => pipe.close() };
};

/** What every door has on which a network address is listened on. Throws an `Error` for one beyond loopback. */
function network({ host, port }: ListenAddress, { log, config }: Pick<DoorsOptions, "log" | "config">) {
  if (!isLoopback(host)) throw new Error(`"${host}" ${beyondLoopback}`);
  return { host, port, log, clock: systemClock, maxMessageBytes: config.limits.messageBytes };
}

function names({ listen }: GatewayConfig): Pick<GatewayConfig["listen"], "allowedHosts" | "allowedOrigins"> {
  return { allowedHosts: listen.allowedHosts, allowedOrigins: listen.allowedOrigins };
}

function authenticator({ tokens }: NetworkDoorOptions): Authenticate {
  return tokens === "none" ? noAuth : bearer(tokens);
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
