import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import {
  StreamableHTTPServerTransport,
  type EventStore,
} from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { systemClock } from "../../src/core/systemClock.ts";
import { connectUpstream } from "../../src/mcp/client/connect.ts";
import { dialHttp, type DialHttpOptions } from "../../src/transports/http/dial.ts";
import { Peer, type PeerOptions } from "../../src/wire/peer.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const self = { name: "toolgate-tests", version: "1.0.0" };

/** Serves HTTP on a free port of this machine; the origin. */
async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Keeps the events of all streams in the order in which they came. */
class Events implements EventStore {
  readonly #events: { streamId: string; message: JSONRPCMessage }[] = [];

  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    return String(this.#events.push({ streamId, message }) - 1);
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send(eventId: string, message: object): Promise<void> },
  ): Promise<string> {
    const { streamId } = this.#events[Number(lastEventId)]!;
    for (const [id, one] of this.#events.entries())
      if (id > Number(lastEventId) && one.streamId === streamId) await send(String(id), one.message);
    return streamId;
  }
}

/** A server of the official SDK whose tools reach back to the client, or hang up on it. */
function sdkServer(): McpServer {
  const server = new McpServer(self);
  server.registerTool("echo", { inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  server.registerTool("hangUp", {}, async ({ closeSSEStream }) => {
    closeSSEStream!();
    return { content: [{ type: "text", text: "still here" }] };
  });
  server.registerTool("ask", {}, async ({ sendRequest }) => {
    const { roots } = await sendRequest({ method: "roots/list" }, z.object({ roots: z.array(z.unknown()) }));
    return { content: [{ type: "text", text: `${roots.length} roots` }] };
  });
  return server;
}

/** The SDK's HTTP+SSE server of one client, as its examples show it: the stream at `/sse`, messages to `/messages`. */
async function oldServer(): Promise<{ url: string; hangUp(): Promise<void> }> {
  let transport: SSEServerTransport | undefined;
  const origin = await listen((request, response) => {
    const { method, url = "" } = request;
    if (method === "GET" && url === "/sse") {
      transport = new SSEServerTransport("/messages", response);
      void sdkServer().connect(transport);
    } else if (method === "POST" && url.startsWith("/messages"))
      void transport!.handlePostMessage(request, response);
    else response.writeHead(404).end(`Cannot ${method} ${url}`);
  });
  return { url: `${origin}/sse`, hangUp: () => transport!.close() };
}

/** The SDK's Streamable HTTP server with a session whose streams can be taken up again. */
async function resumableServer(): Promise<string> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => "session-1",
    eventStore: new Events(),
    retryInterval: 150,
  });
  await sdkServer().connect(transport as Transport);
  cleanups.push(() => transport.close());
  return `${await listen((request, response) => void transport.handleRequest(request, response))}/mcp`;
}

/** A legacy client, as small as can be. */
async function legacyClient(url: string, options: Partial<PeerOptions> = {}): Promise<Peer> {
  const peer = new Peer({ clock: systemClock, ...options });
  const link = await dialHttp({ url })({
    message: (incoming, cause) => peer.receive(incoming, cause),
    closed: (error) => peer.close(error),
  });
  cleanups.push(() => link.close());
  peer.attach(link);
  const { protocolVersion } = await peer.request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: { roots: {} },
    clientInfo: self,
  });
  link.negotiated!(protocolVersion as string);
  await peer.notify("notifications/initialized");
  return peer;
}

const call = (peer: Peer, name: string, args = {}) => peer.request("tools/call", { name, arguments: args });
const says = (text: string) => ({ content: [{ type: "text", text }] });

test("an HTTP+SSE server is found behind its 404, or named as such, and its hanging up is told", async () => {
  for (const options of [{}, { sse: true }] satisfies Partial<DialHttpOptions>[]) {
    const { url, hangUp } = await oldServer();
    const connection = await connectUpstream({
      namespace: "old",
      dial: dialHttp({ url, ...options }),
      clock: systemClock,
      log: () => {},
      clientInfo: self,
    });
    cleanups.push(() => connection.close());
    expect(connection.terms).toMatchObject({
      era: "legacy",
      protocolVersion: "2025-11-25",
      serverInfo: { name: "toolgate-tests" },
    });
    await hangUp();
    expect((await connection.gone).message).toContain(`${url} ended its stream`);
  }
});

test("an HTTP+SSE server calls back, and is answered", async () => {
  const { url } = await oldServer();
  const causes: unknown[] = [];
  const peer = await legacyClient(url, {
    onRequest(_, { cause }) {
      causes.push(cause);
      return { roots: [] };
    },
  });
  expect(await call(peer, "echo", { text: "hello" })).toEqual(says("hello"));
  expect(await call(peer, "ask")).toEqual(says("0 roots"));
  expect(causes).toEqual([undefined]);
});

test("a call whose stream the server closes is answered on the stream that takes it up", async () => {
  const peer = await legacyClient(await resumableServer());
  const calls = [call(peer, "hangUp"), call(peer, "echo", { text: "meanwhile" }), call(peer, "hangUp")];
  expect(await Promise.all(calls)).toEqual([says("still here"), says("meanwhile"), says("still here")]);
});

test("a server's question comes with the call that it belongs to", async () => {
  const causes: unknown[] = [];
  const ids: unknown[] = [];
  const peer = await legacyClient(await resumableServer(), {
    onRequest(_, { cause }) {
      causes.push(cause);
      return { roots: [{ uri: "file:///a" }] };
    },
  });
  const asks = () =>
    peer.request("tools/call", { name: "ask", arguments: {} }, { onId: (id) => ids.push(id) });
  expect(await Promise.all([asks(), asks()])).toEqual([says("1 roots"), says("1 roots")]);
  expect(new Set(causes)).toEqual(new Set(ids));
});
