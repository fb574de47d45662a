import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect } from "vitest";
import type { Incoming, JsonRpcMessage, RequestId } from "../../src/wire/jsonrpc.ts";
import type { Link } from "../../src/wire/link.ts";
import { dialHttp, type DialHttpOptions } from "../../src/transports/http/dial.ts";
import { FakeClock } from "./fakeClock.ts";

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** A request as the server got it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: { id?: number; method?: string };
}

export type Handler = (seen: Seen, response: ServerResponse, request: IncomingMessage) => void;

/** A real server and a link to it. `handle` answers the requests; what came is in `seen`. */
export async function serve(handle: Handler, options: Partial<DialHttpOptions> = {}) {
  const seen: Seen[] = [];
  const messages: Incoming[] = [];
  const causes: (RequestId | undefined)[] = [];
  const told: ("missed" | Error)[] = [];
  let wake = (): void => {};
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const text = Buffer.concat(chunks as Buffer[]).toString();
      const { method, headers, url } = request;
      const body = text ? (JSON.parse(text) as object) : {};
      const one: Seen = { method: method!, path: url!, headers, body };
      seen.push(one);
      wake();
      handle(one, response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const address = `${origin}/mcp`;
  const clock = new FakeClock();
  const link = await dialHttp({ url: `${address}?key=secret`, clock, ...options })({
    message(incoming, cause) {
      messages.push(incoming);
      causes.push(cause);
      wake();
    },
    missed() {
      told.push("missed");
      wake();
    },
    closed(error) {
      told.push(error);
      wake();
    },
  });
  cleanups.push(
    () => link.close(),
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  /** Resolves when the server has got a request, or the link has told something, that makes `what` true. */
  const until = async (what: () => boolean): Promise<void> => {
    while (!what()) await new Promise<void>((resolve) => (wake = resolve));
  };
  /** Resolves when `count` messages have come. */
  const arrived = async (count: number): Promise<Incoming[]> => {
    await until(() => messages.length >= count);
    return messages;
  };
  /** Lets the pause pass that the link is about to make; it begins some real moments after what caused it. */
  const pause = async (): Promise<number> => {
    while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
    const ms = clock.nextIn!;
    await clock.pass(ms);
    return ms;
  };
  return { link, seen, messages, causes, told, until, arrived, pause, clock, origin, address };
}

export function json(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

export function stream(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
}

export const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

export const request = (method: string, params: object = {}, id = 1): JsonRpcMessage => ({
  jsonrpc: "2.0",
  id,
  method,
  params: { ...params },
});

export const modern = (method: string, params: object = {}, id = 1): JsonRpcMessage =>
  request(method, { ...params, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } }, id);

export const notification = (method: string): JsonRpcMessage => ({
  jsonrpc: "2.0",
  method: `notifications/${method}`,
});

export const answer = (id: unknown, result: object = {}) => ({ jsonrpc: "2.0", id, result });

export const echo: Handler = ({ body }, response) => json(response, answer(body.id, { method: body.method }));

/** The error with which a message could not be sent. */
export function failure(sent: void | Promise<void>): Promise<Error> {
  return Promise.resolve(sent).then(
    () => expect.unreachable("it was sent"),
    (error: Error) => error,
  );
}

/** The handshake of a legacy server that gives the session `s1`; `rest` handles all else. */
export const legacy =
  (rest: Handler): Handler =>
  (one, response, req) => {
    if (one.body.method === "initialize")
      json(response, answer(one.body.id), 200, { "mcp-session-id": "s1" });
    else rest(one, response, req);
  };

export async function shakeHands(link: Link): Promise<void> {
  await link.send(request("initialize"));
  link.negotiated!("2025-11-25");
  await link.send(notification("initialized"));
}
