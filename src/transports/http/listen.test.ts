import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Exchange } from "../../wire/endpoint.ts";
import { bearer } from "./bearer.ts";
import {
  allEvents,
  call,
  FakeEndpoint,
  initialized,
  legacyRequest,
  modernRequest,
  open,
} from "../../../test/support/httpListen.ts";
import { FakeClock } from "../../../test/support/fakeClock.ts";
import { listenHttp, type HttpListener } from "./listen.ts";

let server: HttpListener;
let clock: FakeClock;
let ready = { ok: true, detail: "ready" };
const token = { Authorization: "Bearer secret-of-anna" };
const untilCancelled = ({ cancellation }: Exchange): Promise<undefined> =>
  new Promise((resolve) => cancellation!.onCancel(() => resolve(undefined)));
const endpoint = new FakeEndpoint({
  hold: (_, exchange) => untilCancelled(exchange),
  stream: (_, exchange) => {
    exchange.send({ jsonrpc: "2.0", method: "notifications/message" });
    return untilCancelled(exchange);
  },
});

beforeEach(async () => {
  clock = new FakeClock();
  server = await listenHttp({
    host: "127.0.0.1",
    port: 0,
    route: (path) => (path === "/mcp" ? endpoint : undefined),
    authenticate: bearer(new Map([["anna", "secret-of-anna"]])),
    clock,
    log: () => {},
    allowedHosts: ["gateway.lan"],
    allowedOrigins: ["https://app.example"],
    ready: () => ready,
  });
});

afterEach(() => server.close());

/** Writes bytes as they are and resolves with all that comes back. */
async function raw(text: string): Promise<string> {
  const socket = connect(server.port, "127.0.0.1");
  socket.end(text);
  let answer = "";
  for await (const chunk of socket.setEncoding("utf8")) answer += chunk as string;
  return answer;
}

test("it says where it listens", () => {
  expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
  expect(server.port).toBeGreaterThan(0);
});

test("a port in use is named, with what to do", async () => {
  const again = listenHttp({
    host: "127.0.0.1",
    port: server.port,
    route: () => endpoint,
    authenticate: () => undefined,
    clock,
    log: () => {},
  });
  await expect(again).rejects.toMatchObject({
    code: "EADDRINUSE",
    message: `Port ${server.port} on 127.0.0.1 is in use. Stop the other program or choose another port with --http.`,
  });
});

test("an address of another machine is named", async () => {
  const elsewhere = listenHttp({
    host: "192.0.2.1",
    port: 0,
    route: () => endpoint,
    authenticate: () => undefined,
    clock,
    log: () => {},
  });
  await expect(elsewhere).rejects.toMatchObject({
    code: "EADDRNOTAVAIL",
    message: /no address 192\.0\.2\.1/,
  });
});

describe("Host and Origin", () => {
  const body = modernRequest("tools/list");

  test("an unexpected host is 403 before anything else, and says what to configure", async () => {
    for (const path of ["/mcp", "/healthz", "/readyz", "/elsewhere"]) {
      const { status, json } = await call(server, { path, headers: { Host: "evil.example" }, body });
      expect(status).toBe(403);
      expect(json.error?.message).toContain('"evil.example"');
      expect(json.error?.message).toContain("allowedHosts");
      expect(json).not.toHaveProperty("id");
    }
  });

  test("an allowed host is served", async () => {
    const { status } = await call(server, { headers: { ...token, Host: "gateway.lan:1" }, body });
    expect(status).toBe(200);
  });

  test("an unexpected origin is 403, and says what to configure", async () => {
    const headers = { ...token, Origin: "https://evil.example" };
    for (const method of ["POST", "GET", "OPTIONS"]) {
      const { status, json, headers: answered } = await call(server, { method, headers });
      expect(status).toBe(403);
      expect(json.error?.message).toContain("allowedOrigins");
      expect(answered).not.toHaveProperty("access-control-allow-origin");
    }
  });

  test("an allowed origin may read the answer", async () => {
    const { status, headers } = await call(server, {
      headers: { ...token, Origin: "https://app.example" },
      body,
    });
    expect(status).toBe(200);
    expect(headers).toMatchObject({ "access-control-allow-origin": "https://app.example", vary: "Origin" });
    expect(headers["access-control-expose-headers"]).toContain("Mcp-Session-Id");
  });

  test("the server's own origin is served", async () => {
    const { status } = await call(server, { headers: { ...token, Origin: server.url }, body });
    expect(status).toBe(200);
  });

  test("an allowed origin's preflight is answered without a token", async () => {
    const { status, headers } = await call(server, {
      method: "OPTIONS",
      headers: {
        Origin: "https://app.example",
        "Access-Control-Request-Headers": "authorization, mcp-param-region",
      },
    });
    expect(status).toBe(204);
    expect(headers["access-control-allow-headers"]).toBe("authorization, mcp-param-region");
    expect(headers["access-control-allow-methods"]).toBe("POST, GET, DELETE");
  });
});

describe("the token", () => {
  test.each([{}, { Authorization: "Bearer wrong-secret" }])("%j is 401 and not echoed", async (headers) => {
    const { status, headers: answered, text } = await call(server, { headers, body: modernRequest("ping") });
    expect(status).toBe(401);
    expect(answered["www-authenticate"]).toBe("Bearer");
    expect(text).toContain("Authorization: Bearer <token>");
    expect(text).not.toContain("wrong-secret");
  });

  test("paths are not told apart without one", async () => {
    expect((await call(server, { path: "/elsewhere" })).status).toBe(401);
    expect((await call(server, { path: "/elsewhere", headers: token })).status).toBe(404);
  });

  test("who looks for an authorization server learns that there is none", async () => {
    const path = "/.well-known/oauth-protected-resource/mcp";
    expect((await call(server, { method: "GET", path })).status).toBe(404);
  });

  test("its principal reaches the endpoint", async () => {
    await call(server, { headers: token, body: modernRequest("ping") });
    expect(endpoint.exchanges.at(-1)?.principal).toEqual({ id: "anna" });
  });
});

describe("probes", () => {
  afterEach(() => {
    ready = { ok: true, detail: "ready" };
  });

  test("/healthz is ok without a token", async () => {
    ready = { ok: false, detail: "waiting for fs" };
    expect(await call(server, { method: "GET", path: "/healthz" })).toMatchObject({
      status: 200,
      text: "ok\n",
    });
  });

  test("/readyz tells whether it is", async () => {
    expect(await call(server, { method: "GET", path: "/readyz?now" })).toMatchObject({ status: 200 });
    ready = { ok: false, detail: "waiting for fs" };
    expect(await call(server, { method: "GET", path: "/readyz" })).toMatchObject({
      status: 503,
      text: "waiting for fs\n",
    });
    expect(await call(server, { method: "HEAD", path: "/readyz" })).toMatchObject({ status: 503, text: "" });
  });

  test("they take no messages", async () => {
    const { status, headers } = await call(server, { path: "/healthz" });
    expect(status).toBe(405);
    expect(headers.allow).toBe("GET, HEAD");
  });
});

describe("what is hardly HTTP", () => {
  test.each([
    ["garbage", "garbage\r\n\r\n", 400],
    ["a request without Host", "GET /mcp HTTP/1.1\r\n\r\n", 400],
    ["garbage after a request", `GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n\0\r\n\r\n`, 200],
    ["huge headers", `GET /mcp HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431],
    ["a path that is no URL", `GET //%zz:\\ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`, 401],
  ])("%s ends its connection, and the server lives", async (_, text, status) => {
    expect(await raw(text)).toContain(`HTTP/1.1 ${status} `);
    expect((await call(server, { method: "GET", path: "/healthz" })).status).toBe(200);
  });
});

describe("close", () => {
  test("calls in flight are cancelled and their clients told, whichever the era", async () => {
    const session = { "Mcp-Session-Id": await initialized(server, { headers: token }) };
    const arrived = endpoint.arrive(3);
    const modern = call(server, { headers: token, body: modernRequest("hold") });
    const legacy = call(server, { headers: { ...token, ...session }, body: legacyRequest("hold") });
    const stream = open(server, { headers: token, body: modernRequest("stream") }).response.then(allEvents);
    await arrived;
    await server.close();
    expect(endpoint.exchanges.slice(-3).every(({ cancellation }) => cancellation!.cancelled)).toBe(true);
    for (const { status, json } of await Promise.all([modern, legacy])) {
      expect(status).toBe(503);
      expect(json.error?.message).toContain("stopping");
    }
    expect(await stream).toHaveLength(1);
  });

  test("sessions and their streams end", async () => {
    const session = await initialized(server, { headers: token });
    const headers = { ...token, "Mcp-Session-Id": session, Accept: "text/event-stream" };
    const stream = await open(server, { method: "GET", headers }).response;
    await server.close();
    expect(endpoint.ended.map(({ id }) => id)).toContain(session);
    expect(await allEvents(stream)).toEqual([]);
  });

  test("it does not wait for a client that never finishes its request", async () => {
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n");
    await once(socket, "connect");
    await call(server, { method: "GET", path: "/healthz" });
    const gone = once(socket, "close");
    await server.close();
    await gone;
    expect(socket.bytesRead).toBe(0);
  });

  test("nobody can connect any more, and closing again is fine", async () => {
    await server.close();
    await server.close();
    await expect(call(server, { method: "GET", path: "/healthz" })).rejects.toMatchObject({
      code: "ECONNREFUSED",
    });
    expect(clock.pending).toBe(0);
  });
});
