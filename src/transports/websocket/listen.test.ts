import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { WebSocket, type ClientOptions } from "ws";
import { EchoEndpoint } from "../../../test/support/echoEndpoint.ts";
import { FakeClock } from "../../../test/support/fakeClock.ts";
import type { Log } from "../../core/effects.ts";
import type { Endpoint } from "../../wire/endpoint.ts";
import { encode, resultResponse, type JsonRpcNotification } from "../../wire/jsonrpc.ts";
import { bearer } from "../http/bearer.ts";
import { listenWebSocket, type WebSocketListener, type WebSocketListenOptions } from "./listen.ts";

const token = "0123456789abcdef";
const headers = { Authorization: `Bearer ${token}` };
const listeners: WebSocketListener[] = [];
const sockets: WebSocket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await Promise.all(listeners.splice(0).map((listener) => listener.close()));
});

async function listen({ endpoint = new EchoEndpoint(), ...options }: ListenOptions = {}) {
  const clock = new FakeClock();
  const log = vi.fn<Log>();
  const authenticate = bearer(new Map([["ada", token]]));
  const listener = await listenWebSocket({
    route: (path) => (path === "/mcp" ? endpoint : undefined),
    host: "127.0.0.1",
    port: 0,
    authenticate: ({ authorization }) => authenticate(authorization),
    clock,
    log,
    ...options,
  });
  listeners.push(listener);
  return { endpoint: endpoint as EchoEndpoint, clock, log, listener };
}

interface ListenOptions extends Partial<WebSocketListenOptions> {
  readonly endpoint?: Endpoint;
}

function dial(
  { url }: WebSocketListener,
  options: ClientOptions = { headers },
  offered = ["mcp"],
): WebSocket {
  const socket = new WebSocket(`${url}/mcp`, offered, options);
  sockets.push(socket);
  return socket;
}

async function open(...args: Parameters<typeof dial>): Promise<WebSocket> {
  const socket = dial(...args);
  await once(socket, "open");
  return socket;
}

async function ask(socket: WebSocket, message: unknown): Promise<unknown> {
  const answered = once(socket, "message");
  socket.send(typeof message === "string" ? message : JSON.stringify(message));
  const [data] = (await answered) as [Buffer];
  return JSON.parse(data.toString());
}

const request = { jsonrpc: "2.0", id: 1, method: "m" };

test("serves a message a frame, to the principal of the token", async () => {
  const { endpoint, listener } = await listen();
  const socket = await open(listener);
  expect(socket.protocol).toBe("mcp");
  expect(socket.extensions).toBe("");
  expect(await ask(socket, request)).toMatchObject({ id: 1, result: { method: "m" } });
  expect(await ask(socket, "no JSON\nat all")).toEqual({ invalid: true });
  expect(endpoint.exchanges[0]?.principal.id).toBe("ada");
  socket.close();
  await vi.waitFor(() => expect(endpoint.ended).toEqual([endpoint.exchanges[0]?.session]));
});

describe("the way in", () => {
  async function refusal(listener: WebSocketListener, ...args: [ClientOptions?, string[]?]) {
    const socket = dial(listener, ...args);
    socket.on("error", () => {});
    const [, response] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  }

  test.each<[string, number, string, ClientOptions, string[]?]>([
    ["no token", 401, "wants a bearer token", {}],
    ["a wrong token", 401, "not valid here", { headers: { Authorization: `Bearer ${token}x` } }],
    ["a web page", 403, "may not call this server", { headers, origin: "https://evil.example" }],
    ["a rebound name", 403, "is not served here", { headers: { ...headers, Host: "evil.example" } }],
    ["another subprotocol", 400, "Only the subprotocol", { headers }, ["graphql-ws"]],
  ])("is closed for %s", async (_, status, message, options, offered) => {
    const { endpoint, listener } = await listen();
    const answer = await refusal(listener, options, offered);
    expect(answer).toMatchObject({ status, body: expect.stringContaining(message) });
    expect(answer.headers.connection).toBe("close");
    expect(endpoint.seen).toEqual([]);
  });

  test("is closed where nothing is served", async () => {
    const { listener } = await listen({ route: () => undefined });
    expect(await refusal(listener)).toMatchObject({ status: 404, body: expect.stringContaining("/mcp") });
  });

  test("is open for the pages of an allowed origin, and for a client that offers no subprotocol", async () => {
    const { listener } = await listen({ allowedOrigins: ["https://app.example"] });
    await open(listener, { headers, origin: "https://app.example" }, ["other", "mcp"]);
    expect((await open(listener, { headers }, [])).protocol).toBe("");
  });

  test("is WebSocket only", async () => {
    const { listener } = await listen();
    const asked = httpRequest(`http://127.0.0.1:${listener.port}/mcp`, { agent: false }).end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(426);
    expect(await text(response)).toContain("ws:// URL");
  });

  test("stays open whatever bytes come, before and after the connection is one", async () => {
    const { endpoint, listener } = await listen();
    const upgrade =
      "GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 1000 }), fc.boolean(), async (bytes, upgraded) => {
        const socket = connect(listener.port, "127.0.0.1");
        const closed = new Promise((resolve) => socket.on("close", resolve));
        socket.on("error", () => {}).resume();
        if (upgraded) socket.write(upgrade);
        socket.end(bytes);
        await closed;
      }),
      { numRuns: 50 },
    );
    expect(endpoint.seen).toEqual([]);
    expect(await ask(await open(listener), request)).toHaveProperty("result");
  });
});

test("a message over the limit ends the connection with 1009", async () => {
  const { listener, endpoint } = await listen({ maxMessageBytes: 100 });
  const socket = await open(listener);
  await ask(socket, request);
  socket.send("x".repeat(101));
  expect((await once(socket, "close"))[0]).toBe(1009);
  await vi.waitFor(() => expect(endpoint.ended).toHaveLength(1));
});

test("a binary frame ends the connection with 1003", async () => {
  const { listener } = await listen();
  const socket = await open(listener);
  socket.send(Buffer.from(JSON.stringify(request)));
  expect((await once(socket, "close"))[0]).toBe(1003);
});

test("a client that answers pings stays, one that does not is cut off", async () => {
  const { clock, listener } = await listen();
  const lively = await open(listener);
  const dead = await open(listener, { headers, autoPong: false });
  await vi.waitFor(() => expect(clock.pending).toBe(2));
  const pinged = once(lively, "ping");
  const closed = once(dead, "close");
  clock.advance(30_000);
  await pinged;
  // The pong went out before this.
  await ask(lively, request);
  clock.advance(30_000);
  expect((await closed)[0]).toBe(1006);
  expect(await ask(lively, request)).toHaveProperty("result");
});

test("from a client that does not read nothing more is read, it misses progress, and it gets every answer", async () => {
  const notification: JsonRpcNotification = {
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { text: "x".repeat(64 * 1024) },
  };
  let handled = 0;
  const endpoint: Endpoint = {
    handle(incoming, exchange) {
      handled += 1;
      for (let n = 0; n < 200; n++) exchange.send(notification);
      return incoming.kind === "request"
        ? { text: encode(resultResponse(incoming.message.id, {})), status: 200 }
        : undefined;
    },
    closed: () => {},
  };
  const { listener, log } = await listen({ endpoint });
  const socket = await open(listener);
  const ids: number[] = [];
  socket.on("message", (data: Buffer) => ids.push(...[JSON.parse(data.toString()).id ?? []].flat()));
  socket.pause();
  socket.send(JSON.stringify(request));
  await vi.waitFor(() => expect(handled).toBe(1));
  socket.send(JSON.stringify({ ...request, id: 2 }));
  await new Promise((resolve) => setImmediate(resolve));
  expect(handled).toBe(1);
  expect(log).toHaveBeenCalledWith("warning", expect.stringContaining("does not read"));
  socket.resume();
  await vi.waitFor(() => expect(ids).toEqual([1, 2]), 10_000);
});

test("close says goodbye to every client and waits for none", async () => {
  const { clock, endpoint, listener } = await listen();
  const polite = await open(listener);
  await ask(polite, request);
  const rude = await open(listener);
  rude.pause();
  const idle = connect(listener.port, "127.0.0.1");
  await once(idle, "connect");
  const goodbye = once(polite, "close");
  const closed = listener.close();
  expect((await goodbye)[0]).toBe(1001);
  await vi.waitFor(() => expect(clock.nextIn).toBe(1000));
  clock.advance(1_000);
  await closed;
  await listener.close();
  expect(endpoint.ended).toHaveLength(1);
  expect(clock.pending).toBe(0);
});

test("connections beyond the bound are closed at once", async () => {
  const { listener, log } = await listen({ maxConnections: 1 });
  await open(listener);
  await expect(open(listener)).rejects.toThrow(/hang up|ECONNRESET/);
  expect(log).toHaveBeenCalledWith("warning", expect.stringContaining("There are 1 connections"));
});

test("a port that is taken is told with what to do", async () => {
  const { port } = (await listen()).listener;
  await expect(listen({ port })).rejects.toThrow(/is in use\. Stop the other program .* with --ws\./);
});
