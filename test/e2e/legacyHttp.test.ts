import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CallToolResultSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { localPrincipal } from "../../src/core/principal.ts";
import { systemClock } from "../../src/core/systemClock.ts";
import { listenHttp, type HttpListener } from "../../src/transports/http/listen.ts";
import type { Exchange, Reply, ServerMessage } from "../../src/wire/endpoint.ts";
import type { Incoming, JsonRpcRequest } from "../../src/wire/jsonrpc.ts";
import { deferred, FakeEndpoint, result, type Method } from "../support/httpListen.ts";

type Answer = Extract<Incoming, { kind: "response" }>["message"];

const log = (data: string): ServerMessage => ({
  jsonrpc: "2.0",
  method: "notifications/message",
  params: { level: "info", data },
});
const askRoots: ServerMessage = { jsonrpc: "2.0", id: "q1", method: "roots/list" };
const text = (value: string) => ({ content: [{ type: "text", text: value }] });

interface Call {
  readonly exchange: Exchange;
  answer(value: string): void;
}

/** A server with one tool, `hold`, whose call the test answers. */
class Server extends FakeEndpoint {
  calls = 0;
  readonly called = deferred<Call>();
  /** The client's answer to what it is asked. */
  readonly answered = deferred<Answer>();

  constructor() {
    const methods: Record<string, Method> = {
      initialize: (message, { session }) => {
        const { protocolVersion } = message.params as { protocolVersion: string };
        session!.legacy = { protocolVersion, capabilities: {}, subscriptions: new Map() };
        const capabilities = { tools: {}, logging: {} };
        const serverInfo = { name: "held", version: "1.0.0" };
        return result(message, { protocolVersion, capabilities, serverInfo });
      },
      "tools/call": (message, exchange) => this.#hold(message, exchange),
    };
    super(methods);
  }

  override handle(incoming: Incoming, exchange: Exchange): ReturnType<FakeEndpoint["handle"]> {
    if (incoming.kind === "response") this.answered.resolve(incoming.message);
    return super.handle(incoming, exchange);
  }

  #hold(message: JsonRpcRequest, exchange: Exchange): Promise<Reply> {
    const { promise, resolve } = deferred<Reply>();
    this.calls++;
    this.called.resolve({ exchange, answer: (value) => resolve(result(message, text(value))) });
    return promise;
  }
}

let endpoint: Server;
let listener: HttpListener;
let clients: Client[];

beforeEach(async () => {
  endpoint = new Server();
  clients = [];
  listener = await listenHttp({
    host: "127.0.0.1",
    port: 0,
    route: (path) => (path === "/mcp" ? endpoint : undefined),
    authenticate: () => localPrincipal,
    clock: systemClock,
    log: () => {},
    sse: true,
  });
});

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await listener.close();
});

const streamable = (sessionId?: string) =>
  new StreamableHTTPClientTransport(
    new URL(`${listener.url}/mcp`),
    sessionId === undefined ? {} : { sessionId },
  );

/** Its logs come in order; it has one root. */
async function connect(transport: SSEClientTransport | StreamableHTTPClientTransport) {
  const client = new Client({ name: "tests", version: "1.0.0" }, { capabilities: { roots: {} } });
  clients.push(client);
  const logs: unknown[] = [];
  const logged = deferred();
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///work" }] }));
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    logs.push(params.data);
    logged.resolve();
  });
  // Its own classes are no `Transport` under exactOptionalPropertyTypes (`sessionId`).
  await client.connect(transport as Transport);
  return { client, logs, logged: logged.promise };
}

const call = { method: "tools/call" as const, params: { name: "hold", arguments: {} } };
const roots = { id: "q1", result: { roots: [{ uri: "file:///work" }] } };

describe("Streamable HTTP", () => {
  test("a client whose stream the server closes comes back by itself, and has everything once", async () => {
    const { client, logs } = await connect(streamable());
    const answer = client.request(call, CallToolResultSchema);
    const held = await endpoint.called.promise;
    held.exchange.send(log("before"));
    held.exchange.closeStream?.();
    held.exchange.send(log("meanwhile"));
    held.answer("done");
    expect(await answer).toEqual(text("done"));
    expect(logs).toEqual(["before", "meanwhile"]);
    expect(endpoint.calls).toBe(1);
  });

  test("a client that is started anew goes on with the token of the one before", async () => {
    const transport = streamable();
    const first = await connect(transport);
    const token = deferred<string>();
    const options = { onresumptiontoken: token.resolve };
    const lost = first.client.request(call, CallToolResultSchema, options).catch(() => "lost");
    const held = await endpoint.called.promise;
    held.exchange.send(log("before"));
    const resumptionToken = await token.promise;
    await first.client.close();
    expect(await lost).toBe("lost");
    held.exchange.send(log("meanwhile"));
    held.answer("done");

    const second = await connect(streamable(transport.sessionId));
    const answer = second.client.request(call, CallToolResultSchema, { resumptionToken });
    expect(await answer).toEqual(text("done"));
    expect(second.logs).toEqual(["before", "meanwhile"]);
    expect(endpoint.calls).toBe(1);
  });

  test("a client answers what it is asked, on the stream of its call", async () => {
    const { client } = await connect(streamable());
    const answer = client.request(call, CallToolResultSchema);
    const held = await endpoint.called.promise;
    held.exchange.send(askRoots);
    expect(await endpoint.answered.promise).toMatchObject(roots);
    held.answer("done");
    expect(await answer).toEqual(text("done"));
  });

  test("a client answers what it was asked before it listened", async () => {
    const opening = connect(streamable());
    await endpoint.arrive(1);
    const [{ session }] = endpoint.exchanges as [Exchange];
    session!.send(askRoots);
    session!.send(log("early"));
    const { logs, logged } = await opening;
    expect(await endpoint.answered.promise).toMatchObject(roots);
    await logged;
    expect(logs).toEqual(["early"]);
  });
});

describe("HTTP with SSE", () => {
  const sse = () => new SSEClientTransport(new URL(`${listener.url}/mcp/sse`));

  test("an old client calls, hears and answers", async () => {
    const { client, logs } = await connect(sse());
    const answer = client.request(call, CallToolResultSchema);
    const held = await endpoint.called.promise;
    held.exchange.send(log("one"));
    held.exchange.send(askRoots);
    expect(await endpoint.answered.promise).toMatchObject(roots);
    held.answer("done");
    expect(await answer).toEqual(text("done"));
    expect(logs).toEqual(["one"]);
  });

  test("an old client that closes ends its session", async () => {
    const ended = deferred<string>();
    endpoint.closed = ({ id }) => ended.resolve(id);
    const { client } = await connect(sse());
    await client.close();
    expect(await ended.promise).toBe(endpoint.exchanges[0]?.session?.id);
  });
});
