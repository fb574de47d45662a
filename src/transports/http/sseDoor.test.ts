import type { IncomingMessage } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bearer } from "./bearer.ts";
import {
  call,
  deferred,
  eventsOf,
  FakeEndpoint,
  legacyRequest,
  modernRequest,
  open,
  textOf,
} from "../../../test/support/httpListen.ts";
import { FakeClock } from "../../../test/support/fakeClock.ts";
import type { Exchange, Reply, Session } from "../../wire/endpoint.ts";
import { listenHttp, type HttpListener } from "./listen.ts";

const anna = { Authorization: "Bearer secret-of-anna" };
const ben = { Authorization: "Bearer secret-of-ben" };
const events = { Accept: "text/event-stream" };

let server: HttpListener;
let clock: FakeClock;
let endpoint: FakeEndpoint;
let held: ReturnType<typeof deferred<Exchange>>;
let release: ReturnType<typeof deferred<Reply | undefined>>;

const listen = (sse?: boolean) =>
  listenHttp({
    host: "127.0.0.1",
    port: 0,
    route: (path) => (path === "/mcp" || path === "/mcp/sse/sse" ? endpoint : undefined),
    authenticate: bearer(
      new Map([
        ["anna", "secret-of-anna"],
        ["ben", "secret-of-ben"],
      ]),
    ),
    clock,
    log: () => {},
    maxMessageBytes: 10_000,
    sessionLimits: { max: 2 },
    ...(sse !== undefined && { sse }),
  });

beforeEach(async () => {
  clock = new FakeClock();
  held = deferred();
  release = deferred();
  endpoint = new FakeEndpoint({
    hold: (_, exchange) => {
      held.resolve(exchange);
      return release.promise;
    },
    cancelled: () => undefined,
  });
  server = await listen(true);
});

afterEach(() => server.close());

interface Opened {
  res: IncomingMessage;
  messages: AsyncGenerator<object>;
  path: string;
  abort(): void;
}

/** Opens a stream; resolves when it has said where to post. */
async function opened(headers = anna): Promise<Opened> {
  const { response, abort } = open(server, {
    method: "GET",
    path: "/mcp/sse",
    headers: { ...headers, ...events },
  });
  const res = await response;
  res.on("error", () => {});
  const head = await new Promise<string>((resolve) => res.setEncoding("utf8").once("data", resolve));
  const path = /^event: endpoint\ndata: (\/mcp\/messages\?sessionId=[0-9a-f-]{36})\n\n$/.exec(head)?.[1];
  return { res, messages: eventsOf(res), path: path!, abort };
}

const post = ({ path }: Opened, body: unknown, headers = anna) => call(server, { path, headers, body });

async function next(messages: AsyncGenerator<object>): Promise<object> {
  return (await messages.next()).value as object;
}

describe("a stream", () => {
  test("carries the answers to what is posted to the address that it names first", async () => {
    const stream = await opened();
    expect(stream.res.headers["content-type"]).toBe("text/event-stream");
    const { status, text } = await post(stream, legacyRequest("initialize", {}, 5));
    expect([status, text]).toEqual([202, ""]);
    expect(await next(stream.messages)).toMatchObject({ id: 5, result: { protocolVersion: "2025-11-25" } });
    await post(stream, modernRequest("ping", { a: 1 }, 6));
    expect(await next(stream.messages)).toMatchObject({ id: 6, result: { echo: { a: 1 } } });
    const [first, second] = endpoint.exchanges;
    expect(second?.session).toBe(first?.session);
    expect(second?.principal).toEqual({ id: "anna" });
  });

  test("carries the server's own messages, and takes the client's answers", async () => {
    const stream = await opened();
    await post(stream, legacyRequest("hold"));
    const exchange = await held.promise;
    const question = { jsonrpc: "2.0" as const, id: 1, method: "roots/list" };
    expect(exchange.send(question)).toBe(true);
    expect(await next(stream.messages)).toEqual(question);
    const answer = { jsonrpc: "2.0", id: 1, result: { roots: [] } };
    expect((await post(stream, answer)).status).toBe(202);
    expect(endpoint.incoming.at(-1)).toEqual({ kind: "response", message: answer });
    release.resolve({ text: "{}", status: 200 });
    expect(await next(stream.messages)).toEqual({});
    const changed = { jsonrpc: "2.0" as const, method: "notifications/tools/list_changed" };
    exchange.session!.send(changed);
    expect(await next(stream.messages)).toEqual(changed);
  });

  test("is kept alive by comments", async () => {
    const { res, abort } = await opened();
    const text = new Promise((resolve) => res.once("data", resolve));
    clock.advance(15_000);
    expect(await text).toBe(":\n\n");
    abort();
  });

  test("that ends takes its session with it", async () => {
    const stream = await opened();
    await post(stream, legacyRequest("hold"));
    const { session, send } = await held.promise;
    const inflight = session!.inflight.begin(1)!;
    const ended = deferred<Session>();
    endpoint.closed = (closed) => {
      closed.inflight.cancelAll("gone");
      ended.resolve(closed);
    };
    stream.abort();
    expect(await ended.promise).toBe(session);
    expect(inflight.cancelled).toBe(true);
    release.resolve({ text: "{}", status: 200 });
    expect((await post(stream, legacyRequest("ping"))).status).toBe(404);
    expect(send({ jsonrpc: "2.0", method: "notifications/message" })).toBe(false);
    // The sweep of idle sessions.
    expect(clock.pending).toBe(1);
  });

  test("ends when the server stops", async () => {
    const { res } = await opened();
    const text = textOf(res);
    await server.close();
    expect(await text).toBe("");
    expect(endpoint.ended).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  test("makes room for another of its principal, however long it has been open", async () => {
    const oldest = await opened();
    clock.advance(7_200_000);
    const other = await opened(ben);
    await opened();
    const end = textOf(oldest.res);
    await opened();
    expect(await end).toMatch(/^(:\n\n)*$/);
    expect(endpoint.ended).toHaveLength(1);
    expect((await post(other, legacyRequest("ping"), ben)).status).toBe(202);
  });
});

describe("a POST", () => {
  test.each([
    ["of another principal", (path: string) => ({ path, headers: ben })],
    ["to an unknown session", () => ({ path: "/mcp/messages?sessionId=unknown", headers: anna })],
    ["that names none", () => ({ path: "/mcp/messages", headers: anna })],
  ])("%s is 404, and says how to open a stream", async (_, where) => {
    const { path } = await opened();
    const { status, json } = await call(server, { ...where(path), body: legacyRequest("ping") });
    expect(status).toBe(404);
    expect(json.error?.message).toContain("Open one with GET");
    expect(endpoint.incoming).toEqual([]);
  });

  test("of what is no message is answered where it came", async () => {
    const stream = await opened();
    expect(await post(stream, "{")).toMatchObject({ status: 400, json: { error: { code: -32700 } } });
    expect((await post(stream, `"${"x".repeat(20_000)}"`)).status).toBe(413);
    const headers = { ...anna, "Content-Type": "text/plain" };
    expect((await post(stream, "{}", headers)).status).toBe(415);
    await post(stream, legacyRequest("cancelled"));
    await post(stream, legacyRequest("ping", {}, 2));
    expect(await next(stream.messages)).toMatchObject({ id: 2 });
  });

  test("by the other transport does not reach its session", async () => {
    const { path } = await opened();
    const headers = { ...anna, "Mcp-Session-Id": path.split("=")[1]! };
    expect((await call(server, { headers, body: legacyRequest("ping") })).status).toBe(404);
  });
});

describe("the paths", () => {
  test.each([
    ["POST", "/mcp/sse", {}, "GET"],
    ["GET", "/mcp/sse", { Accept: "application/json" }, "GET"],
    ["GET", "/mcp/messages", events, "POST"],
  ])("%s %s with %j is 405", async (method, path, headers, allow) => {
    const answer = await call(server, { method, path, headers: { ...anna, ...headers } });
    expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
  });

  test("want a token, a host and an origin as all do", async () => {
    for (const [headers, status] of [
      [{}, 401],
      [{ ...anna, Host: "evil.example" }, 403],
      [{ ...anna, Origin: "https://evil.example" }, 403],
    ] as const) {
      const sent = { method: "GET", path: "/mcp/sse", headers: { ...events, ...headers } };
      expect((await call(server, sent)).status).toBe(status);
    }
  });

  test("are there only below what is served, and what is served there itself comes first", async () => {
    for (const path of ["/sse", "/other/sse", "/mcp/ssee", "/mcp/other"])
      expect((await call(server, { method: "GET", path, headers: { ...anna, ...events } })).status).toBe(404);
    const own = await call(server, { path: "/mcp/sse/sse", headers: anna, body: modernRequest("ping") });
    expect(own.status).toBe(200);
  });

  test("are not there unless asked for", async () => {
    const plain = await listen();
    const sent = { method: "GET", path: "/mcp/sse", headers: { ...anna, ...events } };
    expect((await call(plain, sent)).status).toBe(404);
    await plain.close();
  });
});
