import { createServer, ServerResponse, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";
import type { Clock } from "../../core/effects.ts";
import type { Principal } from "../../core/principal.ts";
import type { Endpoint } from "../../wire/endpoint.ts";
import { authorityOf, bind } from "../bind.ts";
import { Door, type DoorOptions } from "../http/door.ts";
import { enters, nothingAt, pathOf, unauthorized } from "../http/handler.ts";
import { refuse, type Refusal } from "../http/respond.ts";
import { MessageServer, openTo } from "../messageServer.ts";
import { limitConnections, type SocketListener, type SocketListenOptions } from "../socketListener.ts";
import { endWebSocket, FrameWriter, keepAlive, readFrames, subprotocol } from "./frames.ts";

export interface WebSocketListenOptions extends DoorOptions, SocketListenOptions {
  /** 0 for any free one. */
  readonly port: number;
  /** What is served at a path (without its query, not decoded); undefined is 404. */
  route(path: string): Endpoint | undefined;
  /** Who asks for a connection with these headers; undefined if nobody that may come in. Must not throw. */
  authenticate(headers: IncomingHttpHeaders): Principal | undefined;
  readonly clock: Clock;
}

export interface WebSocketListener extends SocketListener {
  readonly port: number;
}

/** How long a client may take to ask for its connection, and how often that is looked at, in milliseconds. */
const times = { headersTimeout: 10_000, requestTimeout: 10_000, connectionsCheckingInterval: 2_000 };

/**
 * Serves endpoints over WebSocket (RFC 6455), a message a text frame; a client that offers subprotocols must offer
 * `mcp`. `Host`, `Origin`, credentials and path are checked before the connection becomes one, and refused as HTTP
 * does. A message over the limit ends its connection with 1009. Rejects with an `Error` for a person, with the
 * system's `code`, if it cannot listen.
 */
export async function listenWebSocket(options: WebSocketListenOptions): Promise<WebSocketListener> {
  const { host, maxMessageBytes = 4 * 1024 * 1024 } = options;
  const door = new Door(options);
  const clients = new Set<MessageServer>();
  const upgrader = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
  });
  const server = createServer(times, (req, res) => {
    if (enters(door, req, res)) refuse(res, noUpgrade);
  });
  server.on("upgrade", (req, socket: Socket, head) => {
    const admitted = admit(door, { req, socket }, options);
    if (!admitted) return;
    upgrader.handleUpgrade(req, socket, head, (webSocket) => {
      const client = serve(webSocket, admitted, options);
      clients.add(client);
      void client.closed.then(() => clients.delete(client));
    });
  });
  limitConnections(server, options);
  const port = await bind(server, options, "--ws");
  const close = async (): Promise<void> => {
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await Promise.all(Array.from(clients, (client) => client.close()));
    await stopped;
  };
  let closed: Promise<void> | undefined;
  return { url: `ws://${authorityOf({ host, port })}`, port, close: () => (closed ??= close()) };
}

interface Admitted {
  readonly endpoint: Endpoint;
  readonly principal: Principal;
}

/** Undefined if the request has been refused. */
function admit(
  door: Door,
  { req, socket }: { req: IncomingMessage; socket: Socket },
  options: WebSocketListenOptions,
): Admitted | undefined {
  // A client that leaves meanwhile is no fault of ours.
  socket.on("error", () => {});
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket);
  res.on("finish", () => socket.destroySoon());
  if (!enters(door, req, res)) return undefined;
  const judged = judge(req, options);
  if ("status" in judged) {
    refuse(res, judged);
    return undefined;
  }
  res.detachSocket(socket);
  return judged;
}

function judge(req: IncomingMessage, { authenticate, route }: WebSocketListenOptions): Admitted | Refusal {
  const principal = authenticate(req.headers);
  if (!principal) return unauthorized(req);
  const path = pathOf(req);
  const endpoint = route(path);
  if (!endpoint) return nothingAt(path);
  return offersMcp(req) ? { endpoint, principal } : wrongSubprotocol;
}

function offersMcp({ headers }: IncomingMessage): boolean {
  const offered = headers["sec-websocket-protocol"];
  return offered === undefined || offered.split(",").some((one) => one.trim() === subprotocol);
}

const wrongSubprotocol: Refusal = {
  status: 400,
  message: `Only the subprotocol "${subprotocol}" is spoken here. Offer it, or none.`,
};

const noUpgrade: Refusal = {
  status: 426,
  message: "Only WebSocket is spoken here. Connect with a ws:// URL.",
  headers: { Upgrade: "websocket", Connection: "Upgrade, close" },
};

function serve(
  socket: WebSocket,
  { endpoint, principal }: Admitted,
  { clock, log }: WebSocketListenOptions,
): MessageServer {
  const client = new MessageServer(endpoint, {
    gate: openTo(principal),
    log,
    writer: new FrameWriter(socket),
    end: () => endWebSocket(socket, clock),
  });
  socket.on("error", (error) => client.lost(error)).on("close", () => client.lost());
  readFrames(socket, (incoming) => client.receive(incoming));
  keepAlive(socket, clock);
  return client;
}
