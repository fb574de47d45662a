import type { Bag } from "../../core/bag.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock, Log } from "../../core/effects.ts";
import type { Endpoint } from "../../wire/endpoint.ts";
import type { Authenticate } from "./bearer.ts";
import { Door, type DoorOptions } from "./door.ts";
import type { HttpExchange } from "./exchange.ts";
import { Messages } from "./messages.ts";
import type { ReplayLimits } from "./replay.ts";
import { refuse, sendEmpty, sendText, type Refusal } from "./respond.ts";
import type { Sessions } from "./sessions.ts";
import { SseDoor, type SseSession } from "./sseDoor.ts";

export interface HandlerOptions extends DoorOptions {
  /** What is served at a path (without its query, not decoded), always the same object for one path; undefined is 404. */
  route(path: string): Endpoint | undefined;
  readonly authenticate: Authenticate;
  readonly clock: Clock;
  readonly log: Log;
  /** Default 4 MiB. */
  readonly maxMessageBytes?: number;
  /** What is kept for legacy clients that lose a connection and come back. */
  readonly replayLimits?: ReplayLimits;
  /** What `/readyz` tells anybody who can reach the port. Without it the server is always ready. */
  ready?(): Readiness;
}

export interface Readiness {
  readonly ok: boolean;
  /** One line for a person, without secrets. */
  readonly detail: string;
}

/** Answers one request; `open` holds the exchanges of its connection. */
export type Handle = (req: IncomingMessage, res: ServerResponse, open: Bag<HttpExchange>) => void;

/** Everybody's sessions. Without those of HTTP with SSE it is not served. */
export interface AllSessions {
  readonly streamable: Sessions;
  readonly sse: Sessions<SseSession> | undefined;
}

/** The way in for every request: host, origin, token, path. */
export function createHandler(options: HandlerOptions, { streamable, sse }: AllSessions): Handle {
  const { authenticate, maxMessageBytes = 4 * 1024 * 1024, replayLimits = {} } = options;
  const door = new Door(options);
  const messages = new Messages({ maxMessageBytes, effects: options, sessions: streamable, replayLimits });
  const route = (path: string): Endpoint | undefined => options.route(path);
  const sseDoor = sse && new SseDoor({ route, maxMessageBytes, effects: options, sessions: sse });
  return (req, res, open) => {
    if (!enters(door, req, res)) return;
    const path = pathOf(req);
    if (path === "/healthz" || path === "/readyz") return probe(path, req, res, options);
    // Clients without a token look here for an authorization server: that there is none is no secret.
    if (path.startsWith("/.well-known/")) return refuse(res, nothingAt(path));
    const principal = authenticate(req.headers.authorization);
    if (!principal) return refuse(res, unauthorized(req));
    const endpoint = route(path);
    if (endpoint) return messages.handle({ req, res, endpoint, principal, open });
    if (!sseDoor?.handle({ req, res, path, principal })) refuse(res, nothingAt(path));
  };
}

/** Checks who is called and who calls; false if the request has been answered. */
export function enters(door: Door, req: IncomingMessage, res: ServerResponse): boolean {
  const { host, origin } = req.headers;
  if (host === undefined || !door.allowsHost(host)) {
    refuse(res, {
      status: 403,
      message: `Host "${host ?? ""}" is not served here. If clients should use this name, add it to allowedHosts.`,
    });
    return false;
  }
  if (origin === undefined) return true;
  if (!door.allowsOrigin(origin, host)) {
    refuse(res, {
      status: 403,
      message: `Origin "${origin}" may not call this server. If its pages should, add it to allowedOrigins.`,
    });
    return false;
  }
  res.setHeader("Access-Control-Allow-Origin", origin);
  res.setHeader("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate");
  res.setHeader("Vary", "Origin");
  if (req.method !== "OPTIONS") return true;
  sendEmpty(res, 204, {
    "Access-Control-Allow-Methods": "POST, GET, DELETE",
    // Tools name headers of their own (`Mcp-Param-*`), and the origin is trusted: it may send what it asks for.
    "Access-Control-Allow-Headers": req.headers["access-control-request-headers"] ?? "Content-Type",
    "Access-Control-Max-Age": "600",
  });
  return false;
}

export function pathOf(req: IncomingMessage): string {
  const target = req.url ?? "/";
  // A client that takes us for a proxy sends the whole address, and is to be answered (RFC 9112, section 3.2.2).
  const url = target.startsWith("/") || !URL.canParse(target) ? target : new URL(target).pathname;
  const query = url.indexOf("?");
  return query < 0 ? url : url.slice(0, query);
}

function probe(path: string, req: IncomingMessage, res: ServerResponse, options: HandlerOptions): void {
  if (req.method !== "GET" && req.method !== "HEAD")
    return refuse(res, {
      status: 405,
      message: `${path} takes GET and HEAD.`,
      headers: { Allow: "GET, HEAD" },
    });
  if (path === "/healthz" || !options.ready) return sendText(res, 200, "ok\n");
  const { ok, detail } = options.ready();
  sendText(res, ok ? 200 : 503, `${detail}\n`);
}

export function nothingAt(path: string): Refusal {
  return { status: 404, message: `Nothing is served at ${path}. Check the path of the URL.` };
}

export function unauthorized(req: IncomingMessage): Refusal {
  const problem =
    req.headers.authorization === undefined
      ? "This server wants a bearer token"
      : "The token is not valid here";
  return {
    status: 401,
    message: `${problem}. Send the header "Authorization: Bearer <token>" with a token of this server.`,
    headers: { "WWW-Authenticate": "Bearer" },
  };
}
