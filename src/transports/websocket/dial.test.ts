import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { WebSocketServer, type ServerOptions, type WebSocket } from "ws";
import { FakeClock } from "../../../test/support/fakeClock.ts";
import type { JsonRpcMessage } from "../../wire/jsonrpc.ts";
import type { LinkEvents } from "../../wire/link.ts";
import { dialWebSocket, type DialWebSocketOptions } from "./dial.ts";

const ping: JsonRpcMessage = { jsonrpc: "2.0", id: 1, method: "ping" };
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** `onConnection` is called with each client in the turn in which it connects. */
async function serve(onConnection: (socket: WebSocket) => void = () => {}, options: ServerOptions = {}) {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, ...options });
  const connected = new Promise<[WebSocket, IncomingMessage]>((resolve) =>
    server.on("connection", (socket, request) => {
      onConnection(socket);
      resolve([socket, request]);
    }),
  );
  await once(server, "listening");
  closing.push(async () => {
    for (const client of server.clients) client.terminate();
    await new Promise((resolve) => server.close(resolve));
  });
  return { connected, url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/mcp?key=secret` };
}

async function dial(url: string, options: Partial<DialWebSocketOptions> = {}) {
  const clock = new FakeClock();
  const events = { message: vi.fn<LinkEvents["message"]>(), closed: vi.fn<LinkEvents["closed"]>() };
  const link = await dialWebSocket({ url, clock, ...options })(events);
  closing.push(() => link.close());
  return { clock, events, link };
}

const reasonOf = async (events: { closed: ReturnType<typeof vi.fn<LinkEvents["closed"]>> }) => {
  await vi.waitFor(() => expect(events.closed).toHaveBeenCalledTimes(1));
  return events.closed.mock.calls[0]![0].message;
};

test("sends and receives a message a frame, with the headers and the subprotocol", async () => {
  const { url, connected } = await serve((socket) => socket.send(JSON.stringify(ping)));
  const { events, link } = await dial(url, { headers: { Authorization: "Bearer x" } });
  const [socket, request] = await connected;
  expect(request.headers).toMatchObject({
    authorization: "Bearer x",
    "sec-websocket-protocol": "mcp",
  });
  const received = once(socket, "message");
  void link.send(ping);
  expect(JSON.parse(String((await received)[0]))).toEqual(ping);
  await vi.waitFor(() => expect(events.message).toHaveBeenCalledWith({ kind: "request", message: ping }));
});

test("the end of the other side is told once, and nothing can be sent afterwards", async () => {
  const { url, connected } = await serve();
  const { clock, events, link } = await dial(url);
  (await connected)[0].close(1000);
  expect(await reasonOf(events)).toBe("the other side closed the connection (code 1000)");
  expect(() => link.send(ping)).toThrow("closed");
  await link.close();
  expect(events.closed).toHaveBeenCalledTimes(1);
  expect(clock.pending).toBe(0);
});

test("a message over the limit ends it with the limit, and bytes that are no frame with the reason", async () => {
  const { url } = await serve((socket) => socket.send("x".repeat(101)));
  const { events } = await dial(url, { maxMessageBytes: 100 });
  expect(await reasonOf(events)).toBe("a message was longer than the limit of 100 bytes");
  const broken = await serve((socket) => {
    (socket as unknown as { _socket: { write(bytes: string): void } })._socket.write("\xff\xff\xff");
  });
  expect(await reasonOf((await dial(broken.url)).events)).toContain(
    "the connection broke: Invalid WebSocket",
  );
});

test("a server that answers no pings is gone", async () => {
  const { url } = await serve(() => {}, { autoPong: false });
  const { clock, events } = await dial(url);
  clock.advance(30_000);
  clock.advance(30_000);
  expect(await reasonOf(events)).toContain("(code 1006)");
});

test("close tells nothing and waits a second at most", async () => {
  const { url, connected } = await serve((socket) => socket.pause());
  const { clock, events, link } = await dial(url);
  await connected;
  const closed = link.close();
  expect(() => link.send(ping)).toThrow("closed");
  clock.advance(1_000);
  await closed;
  expect(events.closed).not.toHaveBeenCalled();
});

test("a peer that does not read costs a bounded amount of memory", async () => {
  const { url, connected } = await serve((socket) => socket.pause());
  const { clock, link } = await dial(url);
  await connected;
  const large: JsonRpcMessage = { ...ping, params: { text: "x".repeat(16 * 1024 * 1024) } };
  expect(() => {
    for (let n = 0; n < 10; n++) void link.send(large);
  }).toThrow("does not read what it is sent");
  const closed = link.close();
  clock.advance(1_000);
  await closed;
});

test("a server that refuses, or is not there, is told with its address and without its query", async () => {
  let status = 401;
  const server = createServer().on("upgrade", (_, socket) => {
    socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const query = `${url}?key=secret`;
  await expect(dial(query)).rejects.toThrow(
    `${url} refused the connection with 401. It wants credentials, or others than these: set "headers"`,
  );
  status = 404;
  await expect(dial(query)).rejects.toThrow(`${url} refused the connection with 404. Check the path`);
  await new Promise((resolve) => server.close(resolve));
  await expect(dial(query)).rejects.toThrow(`Could not reach ${url}: connect ECONNREFUSED`);
});

test("a server that does not speak MCP is refused", async () => {
  const { url } = await serve(() => {}, { handleProtocols: () => false });
  await expect(dial(url)).rejects.toThrow("Server sent no subprotocol");
});
