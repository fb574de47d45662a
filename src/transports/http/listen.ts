import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import { Bag } from "../../core/bag.ts";
import type { Clock } from "../../core/effects.ts";
import { authorityOf, bind } from "../bind.ts";
import type { HttpExchange } from "./exchange.ts";
import { createHandler, type AllSessions, type HandlerOptions } from "./handler.ts";
import { Sessions, type SessionLimits } from "./sessions.ts";

export interface HttpListenOptions extends HandlerOptions {
  /** 0 for any free one. */
  readonly port: number;
  readonly sessionLimits?: SessionLimits;
  /**
   * Also serves the deprecated HTTP with SSE of revision 2024-11-05: for an endpoint at `/mcp`, at `/mcp/sse` and
   * `/mcp/messages`, where nothing else is served there. `sessionLimits` hold for its sessions apart. Default false.
   */
  readonly sse?: boolean;
}

export interface HttpListener {
  /** Without a path: `http://127.0.0.1:7070`. */
  readonly url: string;
  readonly port: number;
  /**
   * Stops listening, ends every session and stream, cancels what is in flight and tells its client so.
   * Resolves when every connection is closed; the last ones are cut off after a second. Safe to call twice.
   */
  close(): Promise<void>;
}

/** Milliseconds that clients get to read their last answer. */
const closingMs = 1000;

/**
 * Serves endpoints over Streamable HTTP, for both eras. `/healthz` and `/readyz` want no token.
 * Rejects with an `Error` for a person, with the system's `code`, if it cannot listen.
 */
export async function listenHttp(options: HttpListenOptions): Promise<HttpListener> {
  const sessions: AllSessions = {
    streamable: new Sessions(options, options.sessionLimits),
    sse: options.sse ? new Sessions(options, options.sessionLimits) : undefined,
  };
  const connections = new Map<Socket, Bag<HttpExchange>>();
  const handle = createHandler(options, sessions);
  // Times are for receiving a request: how long an answer takes is not limited here. Idle connections are
  // kept for longer than common clients keep theirs, so that none is closed just as it is used again.
  const times = { headersTimeout: 30_000, requestTimeout: 120_000, keepAliveTimeout: 65_000 };
  const server = createServer(times, (req, res) => {
    const open = connections.get(req.socket);
    if (open) handle(req, res, open);
  });
  // Their bytes are bounded already; beyond a count, Node would drop some without a word.
  server.maxHeadersCount = 0;
  server.on("connection", (socket) => {
    const open = new Bag<HttpExchange>();
    connections.set(socket, open);
    socket.on("close", () => {
      connections.delete(socket);
      for (const exchange of open.members()) exchange.disconnected();
    });
  });
  const port = await bind(server, options, "--http");
  server.on("error", (error) => options.log("error", `HTTP server: ${error.message}`));
  let closed: Promise<void> | undefined;
  return {
    url: `http://${authorityOf({ host: options.host, port })}`,
    port,
    close: () => (closed ??= close(server, { sessions, connections, clock: options.clock })),
  };
}

interface Open {
  readonly sessions: AllSessions;
  readonly connections: Map<Socket, Bag<HttpExchange>>;
  readonly clock: Clock;
}

async function close(server: Server, { sessions, connections, clock }: Open): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  sessions.streamable.close();
  sessions.sse?.close();
  for (const [socket, open] of connections) {
    for (const exchange of open.members()) exchange.stop();
    socket.destroySoon();
  }
  connections.clear();
  const impatience = clock.timer(() => server.closeAllConnections(), closingMs);
  await closed;
  impatience.stop();
}
