import { once } from "node:events";
import { request, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import type { JsonObject } from "../../src/core/json.ts";
import type { Endpoint, Exchange, Reply, Session } from "../../src/wire/endpoint.ts";
import {
  encode,
  resultResponse,
  RpcError,
  rpcErrors,
  type Incoming,
  type JsonRpcRequest,
} from "../../src/wire/jsonrpc.ts";
import { metaKeys } from "../../src/wire/protocol.ts";
import type { HttpListener } from "../../src/transports/http/listen.ts";

type Answer = ReturnType<Endpoint["handle"]>;
/** How a fake endpoint answers one method. */
export type Method = (request: JsonRpcRequest, exchange: Exchange) => Answer;

/** Answers what the door brings, and keeps what a test wants to see of it. */
export class FakeEndpoint implements Endpoint {
  readonly incoming: Incoming[] = [];
  readonly exchanges: Exchange[] = [];
  readonly ended: Session[] = [];
  readonly #methods: Record<string, Method>;
  #expected = { count: Infinity, reached: (): void => {} };

  constructor(methods: Record<string, Method> = {}) {
    this.#methods = methods;
  }

  /** Resolves when `count` more messages are here. */
  arrive(count: number): Promise<void> {
    return new Promise((reached) => (this.#expected = { count: this.incoming.length + count, reached }));
  }

  handle(incoming: Incoming, exchange: Exchange): Answer {
    this.exchanges.push(exchange);
    if (this.incoming.push(incoming) >= this.#expected.count) this.#expected.reached();
    if (incoming.kind === "invalid") {
      const code = incoming.reason === "parse" ? rpcErrors.parseError : rpcErrors.invalidRequest;
      return { text: encode(new RpcError(code, incoming.reason).toResponse(undefined)), status: 400 };
    }
    if (incoming.kind !== "request") return undefined;
    const { message } = incoming;
    const method = this.#methods[message.method] ?? (message.method === "initialize" ? initialize : echo);
    return method(message, exchange);
  }

  closed(session: Session): void {
    this.ended.push(session);
    session.inflight.cancelAll("the session has ended");
  }
}

export function result(message: JsonRpcRequest, value: JsonObject, status = 200): Reply {
  return { text: encode(resultResponse(message.id, value)), status };
}

const echo: Method = (message) => result(message, { echo: message.params ?? {} });

const initialize: Method = (message, { session }) => {
  if (session) session.legacy = { protocolVersion: "2025-11-25", capabilities: {}, subscriptions: new Map() };
  return result(message, { protocolVersion: "2025-11-25" });
};

export interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

export interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json: { id?: unknown; result?: JsonObject; error?: { code: number; message: string } };
}

/** Sends one request on a connection of its own; resolves when the head of the response is here. */
export function open(
  server: HttpListener,
  sent: Sent = {},
): { response: Promise<IncomingMessage>; abort(): void } {
  const { method = "POST", path = "/mcp", headers = {}, body } = sent;
  const plain = typeof body === "string" || Buffer.isBuffer(body) || body === undefined;
  const type = body === undefined ? {} : { "Content-Type": "application/json" };
  const req = request({
    host: "127.0.0.1",
    port: server.port,
    method,
    path,
    agent: false,
    headers: { ...type, ...headers },
  });
  req.end(plain ? body : JSON.stringify(body));
  const response = once(req, "response").then(([res]) => res as IncomingMessage);
  // Whoever aborts does not wait for the response.
  response.catch(() => {});
  req.on("error", () => {});
  return { response, abort: () => void req.destroy() };
}

export async function call(server: HttpListener, sent: Sent = {}): Promise<Received> {
  const res = await open(server, sent).response;
  const text = await textOf(res);
  const json = text.startsWith("{") ? (JSON.parse(text) as Received["json"]) : {};
  return { status: res.statusCode ?? 0, headers: res.headers, text, json };
}

export async function textOf(res: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of res.setEncoding("utf8")) text += chunk as string;
  return text;
}

/** The messages of an event stream, as they come. */
export async function* eventsOf(res: IncomingMessage): AsyncGenerator<JsonObject> {
  let text = "";
  for await (const chunk of res.setEncoding("utf8")) {
    text += chunk as string;
    const parts = text.split("\n\n");
    text = parts.pop()!;
    for (const part of parts) {
      const data = /^(?:id: .*\n)?event: message\ndata: (.*)$/.exec(part)?.[1];
      if (data !== undefined) yield JSON.parse(data) as JsonObject;
    }
  }
}

/** All messages of an event stream that ends. */
export async function allEvents(res: IncomingMessage): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  for await (const event of eventsOf(res)) all.push(event);
  return all;
}

/** Sends POSTs on one connection without waiting for answers. */
export function pipeline(server: HttpListener, sent: readonly Sent[]): Socket {
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => {});
  for (const { headers = {}, body } of sent) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const all = { Host: "localhost", "Content-Type": "application/json", ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    const length = Buffer.byteLength(text);
    socket.write(`POST /mcp HTTP/1.1\r\n${lines.join("")}Content-Length: ${length}\r\n\r\n${text}`);
  }
  return socket;
}

export const legacyRequest = (
  method: string,
  params: JsonObject = {},
  id: number | string = 1,
): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

export const modernRequest = (method: string, params: JsonObject = {}, id: number | string = 1): JsonObject =>
  legacyRequest(method, { ...params, _meta: { [metaKeys.protocolVersion]: "2026-07-28" } }, id);

/** Opens a legacy session and returns its id. */
export async function initialized(server: HttpListener, sent: Sent = {}): Promise<string> {
  const { headers } = await call(server, { ...sent, body: legacyRequest("initialize") });
  return headers["mcp-session-id"] as string;
}

/** A promise that the test settles. */
export function deferred<T = void>(): { promise: Promise<T>; resolve(value: T): void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => (resolve = done));
  return { promise, resolve };
}
