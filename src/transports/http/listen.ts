import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Bag } from "../../core/bag.ts";
import type { Clock } from "../../core/effects.ts";
import type { HttpExchange } from "./exchange.ts";
import { createHandler, type HandlerOptions } from "./handler.ts";
import { Sessions, type SessionLimits } from "./sessions.ts";

export interface HttpListenOptions extends HandlerOptions {
  /** 0 for any free one. */
  readonly port: number;
  readonly sessionLimits?: SessionLimits;
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
  const sessions = new Sessions(options, options.sessionLimits);
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
  const port = await bind(server, options);
  server.on("error", (error) => options.log("error", `HTTP server: ${error.message}`));
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  let closed: Promise<void> | undefined;
  return {
    url: `http://${host}:${port}`,
    port,
    close: () => (closed ??= close(server, { sessions, connections, clock: options.clock })),
  };
}

async function bind(server: Server, { host, port }: HttpListenOptions): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => reject(explain(error, host, port));
    server.once("error", failed);
    server.listen({ host, port }, () => {
      server.off("error", failed);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

function explain(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use. Stop the other program or choose another port with --http.`,
    EACCES: `This user may not open port ${port} on ${host}. Choose a port above 1023 with --http.`,
    EADDRNOTAVAIL: `This machine has no address ${host}. Choose one of its own with --http.`,
  };
  const message = reasons[error.code ?? ""] ?? `Cannot listen on ${host}, port ${port}: ${error.message}.`;
  return Object.assign(new Error(message, { cause: error }), { code: error.code });
}

interface Open {
  readonly sessions: Sessions;
  readonly connections: Map<Socket, Bag<HttpExchange>>;
  readonly clock: Clock;
}

async function close(server: Server, { sessions, connections, clock }: Open): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  sessions.close();
  for (const [socket, open] of connections) {
    for (const exchange of open.members()) exchange.stop();
    socket.destroySoon();
  }
  connections.clear();
  const impatience = clock.timer(() => server.closeAllConnections(), closingMs);
  await closed;
  impatience.stop();
}
