import { connect } from "node:net";
import type { IncomingMessage } from "node:http";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Log } from "../../core/effects.ts";
import type { Exchange, Reply, Session } from "../../wire/endpoint.ts";
import {
  allEvents,
  call,
  deferred,
  FakeEndpoint,
  initialized,
  legacyRequest,
  modernRequest,
  open,
  pipeline,
  result,
  textOf,
  type Method,
} from "../../../test/support/httpListen.ts";
import { FakeClock } from "../../../test/support/fakeClock.ts";
import { listenHttp, type HttpListener } from "./listen.ts";

let server: HttpListener;
let clock: FakeClock;
let held: ReturnType<typeof deferred<Exchange>>;
let release: ReturnType<typeof deferred<Reply | undefined>>;
let watched: ReturnType<typeof deferred<Exchange>>;
let endpoint: FakeEndpoint;
let methods: Record<string, Method>;
const log = vi.fn<Log>();

const progress = (at: number) => ({
  jsonrpc: "2.0" as const,
  method: "notifications/progress",
  params: { progressToken: 1, progress: at },
});

/** Resolves with the reason when the exchange is cancelled. */
const cancelled = ({ cancellation }: Exchange): Promise<unknown> =>
  new Promise((resolve) => cancellation!.onCancel(resolve));

beforeEach(async () => {
  clock = new FakeClock();
  held = deferred();
  release = deferred();
  watched = deferred();
  log.mockClear();
  methods = {
    later: async (message) => result(message, { later: message.params ?? {} }),
    refused: (message) => result(message, {}, 404),
    cancelled: () => undefined,
    hold: (_, exchange) => {
      held.resolve(exchange);
      return release.promise;
    },
    watch: (_, exchange) => {
      watched.resolve(exchange);
      return cancelled(exchange).then(() => undefined);
    },
    noisy: (message, exchange) => {
      for (let at = 1; at <= 3; at++) exchange.send(progress(at));
      return result(message, { done: true }, 400);
    },
    flood: async (message, exchange) => {
      const params = { data: "x".repeat(65_536) };
      for (let at = 0; at < 64; at++)
        exchange.send({ jsonrpc: "2.0", method: "notifications/message", params });
      return result(message, { done: true });
    },
  };
  endpoint = new FakeEndpoint(methods);
  server = await listenHttp({
    host: "127.0.0.1",
    port: 0,
    route: (path) => (path === "/mcp" ? endpoint : undefined),
    authenticate: (authorization) => ({ id: authorization ?? "local" }),
    clock,
    log,
    maxMessageBytes: 10_000,
    sessionLimits: { max: 2 },
  });
});

afterEach(() => server.close());

describe("a POST", () => {
  test.each(["text/plain", "application/jsonx", "", undefined])("of %j is 415", async (type) => {
    const headers: Record<string, string> = type === undefined ? {} : { "Content-Type": type };
    const { status, json } = await call(server, { headers, body: type === undefined ? undefined : "{}" });
    expect(status).toBe(415);
    expect(json.error?.message).toContain("application/json");
  });

  test.each(["application/json; charset=utf-8", "Application/JSON"])("of %s is read", async (type) => {
    const { status } = await call(server, { headers: { "Content-Type": type }, body: modernRequest("ping") });
    expect(status).toBe(200);
  });

  test("of what is no message is the endpoint's to answer", async () => {
    expect(await call(server, { body: "{" })).toMatchObject({
      status: 400,
      json: { error: { code: -32700 } },
    });
    expect(await call(server, { body: "7" })).toMatchObject({
      status: 400,
      json: { error: { code: -32600 } },
    });
    expect(await call(server, { body: "", headers: { "Content-Type": "application/json" } })).toMatchObject({
      status: 400,
    });
  });

  test("in pieces that cut a character is one message", async () => {
    const body = Buffer.from(JSON.stringify(modernRequest("ping", { text: "日本語" })));
    const cut = body.indexOf("日") + 1;
    const socket = connect(server.port, "127.0.0.1").setEncoding("utf8");
    socket.write(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
        "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    for (const part of [body.subarray(0, cut), body.subarray(cut)]) {
      socket.write(`${part.length.toString(16)}\r\n`);
      socket.write(part);
      socket.write("\r\n");
    }
    socket.write("0\r\n\r\n");
    let text = "";
    for await (const chunk of socket) text += chunk as string;
    expect(text).toContain('"text":"日本語"');
  });

  test("at the limit is read, and over it is 413 on a connection that lives", async () => {
    const body = (bytes: number): string => `"${"x".repeat(bytes - 2)}"`;
    expect((await call(server, { body: body(10_000) })).status).toBe(400);
    expect(endpoint.incoming.at(-1)).toMatchObject({ reason: "shape" });

    const socket = pipeline(server, [{ body: body(30_000) }, { body: modernRequest("ping") }]).setEncoding(
      "utf8",
    );
    let text = "";
    for await (const chunk of socket) {
      text += chunk as string;
      if (text.includes('"echo"')) break;
    }
    expect(text).toMatch(/^HTTP\/1\.1 413 [\s\S]*HTTP\/1\.1 200 /);
    expect(endpoint.incoming).toContainEqual({ kind: "invalid", reason: "size", limit: 10_000 });
  });

  test("without end is cut off", async () => {
    const socket = connect(server.port, "127.0.0.1");
    const closed = new Promise((resolve) => socket.on("close", resolve).on("error", () => {}));
    socket.resume();
    socket.write(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 90000000\r\n\r\n",
    );
    socket.write("x".repeat(50_000));
    await closed;
    expect(endpoint.incoming).toEqual([{ kind: "invalid", reason: "size", limit: 10_000 }]);
  });

  test("that is never finished reaches no endpoint", async () => {
    const { abort } = open(server, { headers: { "Content-Length": "100" }, body: '{"jsonrpc"' });
    abort();
    await call(server, { body: modernRequest("ping") });
    expect(endpoint.incoming).toHaveLength(1);
  });
});

describe("a reply", () => {
  test.each(["ping", "later"])("of %s is JSON", async (method) => {
    const { status, headers, json } = await call(server, { body: modernRequest(method, { a: 1 }, "é") });
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("application/json");
    expect(json.id).toBe("é");
  });

  test("has the status that the endpoint gave it", async () => {
    expect((await call(server, { body: modernRequest("refused") })).status).toBe(404);
  });

  test.each([
    ["a notification", { jsonrpc: "2.0", method: "notifications/x" }],
    ["a response", { jsonrpc: "2.0", id: 1, result: {} }],
    ["a cancelled request", modernRequest("cancelled")],
  ])("to %s is 202 without a body", async (_, body) => {
    const { status, text, headers } = await call(server, { body });
    expect([status, text, headers["content-length"]]).toEqual([202, "", "0"]);
  });

  test("is a stream once a notification precedes it", async () => {
    const res = await open(server, { body: modernRequest("noisy") }).response;
    expect(res.statusCode).toBe(200);
    expect(res.headers).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    });
    const messages = await allEvents(res);
    expect(messages).toEqual([
      progress(1),
      progress(2),
      progress(3),
      { jsonrpc: "2.0", id: 1, result: { done: true } },
    ]);
    expect(clock.pending).toBe(0);
  });

  test.each(["application/json", "application/*;q=1"])("stays JSON for Accept: %s", async (accept) => {
    const { status, json } = await call(server, {
      headers: { Accept: accept },
      body: modernRequest("noisy"),
    });
    expect([status, json.result]).toEqual([400, { done: true }]);
  });

  test.each(["*/*", "application/json, text/event-stream", "text/*"])(
    "streams for Accept: %s",
    async (accept) => {
      const { headers } = await call(server, { headers: { Accept: accept }, body: modernRequest("noisy") });
      expect(headers["content-type"]).toBe("text/event-stream");
    },
  );

  test("is a stream for who accepts nothing else", async () => {
    const res = await open(server, { headers: { Accept: "text/event-stream" }, body: modernRequest("ping") })
      .response;
    expect(res.headers["content-type"]).toBe("text/event-stream");
    expect(await allEvents(res)).toMatchObject([{ id: 1 }]);
  });

  test("a request that is cancelled ends its stream without one", async () => {
    const { response } = open(server, { body: modernRequest("hold") });
    (await held.promise).send(progress(1));
    release.resolve(undefined);
    expect(await allEvents(await response)).toEqual([progress(1)]);
  });

  test("nothing follows it", async () => {
    const response = call(server, { body: modernRequest("hold") });
    const exchange = await held.promise;
    release.resolve({ text: "{}", status: 200 });
    expect((await response).text).toBe("{}");
    exchange.send(progress(1));
    expect(clock.pending).toBe(0);
  });

  test("a slow reader loses notifications, never the reply, and the log says so once", async () => {
    const res = await open(server, { body: modernRequest("flood") }).response;
    const messages = await allEvents(res);
    expect(messages.at(-1)).toMatchObject({ result: { done: true } });
    expect(messages.length).toBeLessThan(40);
    expect(log).toHaveBeenCalledExactlyOnceWith("warning", expect.stringContaining("too slowly"), {
      dropped: 65 - messages.length,
    });
  });

  test("a quiet stream is kept alive by comments", async () => {
    const { response } = open(server, { body: modernRequest("hold") });
    (await held.promise).send(progress(1));
    const res = await response;
    const text = textOf(res);
    clock.advance(31_000);
    release.resolve({ text: "{}", status: 200 });
    expect(await text).toMatch(/^event: message\ndata: \{.*\}\n\n:\n\n:\n\nevent: message\ndata: \{\}\n\n$/);
  });
});

describe("modern requests", () => {
  test("see their headers and no session, whatever they name", async () => {
    const { headers } = await call(server, {
      headers: { "Mcp-Session-Id": "anything", "Mcp-Method": "ping" },
      body: modernRequest("ping"),
    });
    expect(headers).not.toHaveProperty("mcp-session-id");
    const [exchange] = endpoint.exchanges;
    expect(exchange?.session).toBeUndefined();
    expect(exchange?.headers?.("mcp-method")).toBe("ping");
    expect(exchange?.headers?.("constructor")).toBeUndefined();
  });

  test("are known by the header alone, batches and responses too", async () => {
    const headers = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Session-Id": "anything" };
    for (const body of [
      legacyRequest("ping"),
      [legacyRequest("ping")],
      { jsonrpc: "2.0", id: 1, result: {} },
    ])
      await call(server, { headers, body });
    expect(endpoint.exchanges).toHaveLength(3);
  });

  test("run at the same time, each with its own answer", async () => {
    const slow = call(server, { body: modernRequest("hold", {}, "slow") });
    await held.promise;
    const many = Array.from({ length: 50 }, (_, n) =>
      call(server, { body: modernRequest("later", { n }, n) }),
    );
    for (const [n, { json }] of (await Promise.all(many)).entries())
      expect(json).toMatchObject({ id: n, result: { later: { n } } });
    release.resolve({ text: '{"slow":1}', status: 200 });
    expect((await slow).text).toBe('{"slow":1}');
  });

  test.each(["before anything is sent", "in the middle of a stream"])(
    "are cancelled by a client that goes %s",
    async (when) => {
      const { response, abort } = open(server, { body: modernRequest("hold") });
      const exchange = await held.promise;
      if (when.includes("stream")) {
        exchange.send(progress(1));
        await response;
      }
      abort();
      expect(await cancelled(exchange)).toBe("the client closed the connection");
      expect(clock.pending).toBe(0);
      exchange.send(progress(2));
      release.resolve({ text: "{}", status: 200 });
      expect((await call(server, { body: modernRequest("ping") })).status).toBe(200);
    },
  );

  test("are not cancelled by a client that goes after the answer", async () => {
    await call(server, { body: modernRequest("ping") });
    await call(server, { body: modernRequest("ping") });
    expect(endpoint.exchanges.map(({ cancellation }) => cancellation!.cancelled)).toEqual([false, false]);
  });
});

describe("legacy requests", () => {
  test("initialize opens a session that later requests name", async () => {
    const id = await initialized(server);
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const { status } = await call(server, {
      headers: { "Mcp-Session-Id": id, "MCP-Protocol-Version": "2025-11-25" },
      body: legacyRequest("ping"),
    });
    expect(status).toBe(200);
    const [opened, later] = endpoint.exchanges;
    expect(later?.session).toBe(opened?.session);
    expect(later?.session?.id).toBe(id);
  });

  test("initialize that fails opens none", async () => {
    methods["initialize"] = (message) => result(message, {});
    const { status, headers } = await call(server, { body: legacyRequest("initialize") });
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty("mcp-session-id");
  });

  test("initialize has its session in the head of a stream too, and nothing precedes its result", async () => {
    methods["initialize"] = (message, exchange) => {
      exchange.session!.legacy = {
        protocolVersion: "2025-11-25",
        capabilities: {},
        subscriptions: new Map(),
      };
      exchange.send(progress(1));
      return result(message, {});
    };
    const headers = { Accept: "text/event-stream" };
    const res = await open(server, { headers, body: legacyRequest("initialize") }).response;
    expect(res.headers["mcp-session-id"]).toBeTypeOf("string");
    expect(await allEvents(res)).toMatchObject([{ id: 1, result: {} }]);
  });

  test("initialize whose client has gone leaves no session behind", async () => {
    const ended = deferred<Session>();
    methods["initialize"] = (message, exchange) => {
      held.resolve(exchange);
      return release.promise.then(() => {
        exchange.session!.legacy = {
          protocolVersion: "2025-11-25",
          capabilities: {},
          subscriptions: new Map(),
        };
        return result(message, {});
      });
    };
    endpoint.closed = ended.resolve;
    const socket = pipeline(server, [
      { body: legacyRequest("initialize") },
      { body: modernRequest("watch") },
    ]);
    const [{ session }, modern] = await Promise.all([held.promise, watched.promise]);
    socket.destroy();
    await cancelled(modern);
    release.resolve(undefined);
    expect(await ended.promise).toBe(session);
  });

  test("an unknown session is 404, with the id of the request", async () => {
    const headers = { "Mcp-Session-Id": "unknown" };
    const { status, json } = await call(server, { headers, body: legacyRequest("ping", {}, 7) });
    expect([status, json.id]).toEqual([404, 7]);
    expect(json.error?.message).toContain("Send initialize");
    expect(endpoint.incoming).toEqual([]);
  });

  test("another principal's session is as unknown", async () => {
    const id = await initialized(server, { headers: { Authorization: "anna" } });
    const named = { "Mcp-Session-Id": id };
    const asBen = { ...named, Authorization: "ben" };
    expect((await call(server, { headers: asBen, body: legacyRequest("ping") })).status).toBe(404);
    expect((await call(server, { method: "DELETE", headers: asBen })).status).toBe(404);
    const asAnna = { ...named, Authorization: "anna" };
    expect((await call(server, { headers: asAnna, body: legacyRequest("ping") })).status).toBe(200);
  });

  test("without a session they are the endpoint's to answer", async () => {
    await call(server, { body: legacyRequest("tools/list") });
    expect(endpoint.exchanges.map(({ session }) => session)).toEqual([undefined]);
  });

  test.each(["2000-01-01", "2025", "invalid"])(
    "with the version %s are 400, and learn which there are",
    async (version) => {
      const id = await initialized(server);
      const headers = { "Mcp-Session-Id": id, "MCP-Protocol-Version": version };
      for (const sent of [{ body: legacyRequest("ping") }, { method: "DELETE" }]) {
        const { status, json } = await call(server, { headers, ...sent });
        expect(status).toBe(400);
        expect(json.error?.message).toContain("2025-11-25, 2025-06-18");
      }
    },
  );

  test("a dropped connection cancels nothing", async () => {
    const headers = { "Mcp-Session-Id": await initialized(server) };
    const socket = pipeline(server, [
      { headers, body: legacyRequest("hold") },
      { body: modernRequest("watch") },
    ]);
    const [legacy, modern] = await Promise.all([held.promise, watched.promise]);
    socket.destroy();
    await cancelled(modern);
    expect(legacy.cancellation!.cancelled).toBe(false);
    release.resolve({ text: "{}", status: 200 });
    expect((await call(server, { headers, body: legacyRequest("ping") })).status).toBe(200);
  });

  test("a request in flight keeps its session, which then ages from its end", async () => {
    const headers = { "Mcp-Session-Id": await initialized(server) };
    const response = call(server, { headers, body: legacyRequest("hold") });
    await held.promise;
    clock.advance(7_200_000);
    release.resolve({ text: "{}", status: 200 });
    expect((await response).status).toBe(200);
    clock.advance(3_500_000);
    expect((await call(server, { headers, body: legacyRequest("ping") })).status).toBe(200);
    clock.advance(3_700_000);
    expect((await call(server, { headers, body: legacyRequest("ping") })).status).toBe(404);
  });

  test("one session too many ends the longest idle one", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      ids.push(await initialized(server));
      clock.advance(1);
    }
    expect(endpoint.ended.map(({ id }) => id)).toEqual([ids[0]]);
    const pinged = ids.map((id) =>
      call(server, { headers: { "Mcp-Session-Id": id }, body: legacyRequest("ping") }),
    );
    expect((await Promise.all(pinged)).map(({ status }) => status)).toEqual([404, 200, 200]);
  });
});

describe("GET", () => {
  const listen = (id: string) =>
    open(server, { method: "GET", headers: { Accept: "text/event-stream", "Mcp-Session-Id": id } });
  const changed = { jsonrpc: "2.0" as const, method: "notifications/tools/list_changed" };

  test("streams what belongs to the session, until the session ends", async () => {
    const id = await initialized(server);
    const [{ session }] = endpoint.exchanges as [Exchange];
    const res = await listen(id).response;
    expect(res.headers["content-type"]).toBe("text/event-stream");
    session?.send(changed);
    const events = allEvents(res);
    const { status } = await call(server, { method: "DELETE", headers: { "Mcp-Session-Id": id } });
    expect(status).toBe(204);
    expect(await events).toEqual([changed]);
    session?.send(changed);
  });

  test("is kept alive, and keeps its session", async () => {
    const id = await initialized(server);
    const res = await listen(id).response;
    const text = textOf(res);
    clock.advance(7_200_000);
    expect(endpoint.ended).toEqual([]);
    await call(server, { method: "DELETE", headers: { "Mcp-Session-Id": id } });
    expect(await text).toMatch(/^id: .*\nretry: 1000\ndata:\n\n(:\n\n){480}$/);
  });

  test("is one a session, and may be opened again when it was closed", async () => {
    const id = await initialized(server);
    const first = listen(id);
    const res = await first.response;
    const second = await listen(id).response;
    expect(second.statusCode).toBe(409);
    expect(await textOf(second)).toContain("stream already");
    res.on("error", () => {});
    first.abort();
    let again: IncomingMessage;
    do again = await listen(id).response;
    while (again.statusCode === 409);
    expect(again.statusCode).toBe(200);
  });
});

test("a stream that would wait for another answer on its connection is refused: it would not hear of its end", async () => {
  const id = await initialized(server);
  const headers = { Accept: "text/event-stream", "Mcp-Session-Id": id };
  const socket = pipeline(server, [{ body: modernRequest("hold") }]);
  const refused = new Promise<string>((resolve) => {
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      if (text.includes("400 Bad Request")) resolve(text);
    });
  });
  const lines = Object.entries({ Host: "localhost", ...headers }).map(([name, value]) => `${name}: ${value}`);
  socket.write(`GET /mcp HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  const arrived = endpoint.arrive(2);
  // What comes after it has been read: so has it.
  const last = JSON.stringify(modernRequest("ping", {}, 2));
  socket.write(
    `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${last.length}\r\n\r\n${last}`,
  );
  await arrived;
  release.resolve({ text: "{}", status: 200 });
  expect(await refused).toContain("A stream wants its turn");
  socket.destroy();
  const own = open(server, { method: "GET", headers });
  expect((await own.response).statusCode).toBe(200);
  own.abort();
});

describe("other methods", () => {
  test.each([
    ["GET", {}],
    ["GET", { Accept: "text/event-stream" }],
    ["GET", { Accept: "application/json", "Mcp-Session-Id": "x" }],
    ["GET", { Accept: "text/event-stream", "Mcp-Session-Id": "x", "MCP-Protocol-Version": "2026-07-28" }],
    ["DELETE", {}],
    ["DELETE", { "Mcp-Session-Id": "x", "MCP-Protocol-Version": "2026-07-28" }],
    ["HEAD", {}],
    ["PUT", {}],
    ["OPTIONS", {}],
  ])("%s with %j is 405", async (method, headers) => {
    const answer = await call(server, { method, headers });
    expect([answer.status, answer.headers.allow]).toEqual([405, "POST"]);
  });

  test.each([
    ["GET", { Accept: "text/event-stream" }],
    ["DELETE", {}],
  ])("%s of an unknown session is 404", async (method, headers) => {
    expect((await call(server, { method, headers: { ...headers, "Mcp-Session-Id": "x" } })).status).toBe(404);
  });

  test("DELETE cancels what is in flight in its session", async () => {
    const headers = { "Mcp-Session-Id": await initialized(server) };
    const response = call(server, { headers, body: legacyRequest("hold") });
    const { session } = await held.promise;
    const inflight = session!.inflight.begin(1)!;
    inflight.onCancel(() => release.resolve(undefined));
    await call(server, { method: "DELETE", headers });
    expect((await response).status).toBe(202);
    expect((await call(server, { headers, body: legacyRequest("ping") })).status).toBe(404);
  });
});
