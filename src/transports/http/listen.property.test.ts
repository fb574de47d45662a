import { once } from "node:events";
import { connect } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bearer } from "./bearer.ts";
import { FakeEndpoint, initialized, legacyRequest, modernRequest } from "../../../test/support/httpListen.ts";
import { FakeClock } from "../../../test/support/fakeClock.ts";
import { listenHttp, type HttpListener } from "./listen.ts";

const headers = { Authorization: "Bearer secret" };
let server: HttpListener;
let session: string;

beforeAll(async () => {
  const endpoint = new FakeEndpoint();
  server = await listenHttp({
    host: "127.0.0.1",
    port: 0,
    route: (path) => (path === "/mcp" ? endpoint : undefined),
    authenticate: bearer(new Map([["anna", "secret"]])),
    clock: new FakeClock(),
    log: () => {},
    maxMessageBytes: 2_000,
    allowedOrigins: ["https://app.example"],
    sse: true,
  });
  session = await initialized(server, { headers });
});

afterAll(() => server.close());

/** Sends bytes and ends its side; resolves with all that comes back. */
async function exchange(bytes: Buffer): Promise<string> {
  const socket = connect(server.port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", () => {});
  socket.end(bytes);
  await once(socket, "close");
  return Buffer.concat(chunks).toString();
}

// What a header may hold (RFC 9110, section 5.5), with the values among it that mean something here.
const value = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) }),
  fc.string({ unit: fc.integer({ min: 0x80, max: 0xff }).map((code) => String.fromCharCode(code)) }),
  fc.constantFrom(
    "localhost",
    "https://app.example",
    "Bearer secret",
    "application/json",
    "text/event-stream",
    "2026-07-28",
    "2025-11-25",
  ),
);
const name = fc.constantFrom(
  "Host",
  "Origin",
  "Authorization",
  "Content-Type",
  "Accept",
  "Mcp-Session-Id",
  "Last-Event-ID",
  "MCP-Protocol-Version",
  "Access-Control-Request-Headers",
  "X-Other",
);
const method = fc.constantFrom("POST", "GET", "DELETE", "OPTIONS", "PUT", "HEAD", "PATCH");
const path = fc.oneof(
  fc.constantFrom(
    "/mcp",
    "/mcp?x",
    "/mcp/sse",
    "/mcp/messages?sessionId=%",
    "/healthz",
    "/readyz",
    "*",
    "//",
    "/%",
    "http://localhost/mcp",
  ),
  fc.webPath().map((text) => `/${text}`),
);
const body = fc.oneof(
  fc.uint8Array({ maxLength: 4_000 }).map((bytes) => Buffer.from(bytes)),
  fc.json().map((text) => Buffer.from(text)),
  fc.jsonValue().map((params) => Buffer.from(JSON.stringify(legacyRequest("ping", params as never)))),
  fc
    .constantFrom(legacyRequest("initialize"), modernRequest("ping"), [legacyRequest("ping")])
    .map((message) => Buffer.from(JSON.stringify(message))),
);

test("whatever comes, there is an HTTP response and the server lives", async () => {
  await fc.assert(
    fc.asyncProperty(
      method,
      path,
      fc.array(fc.tuple(name, value), { maxLength: 6 }),
      body,
      async (verb, target, some, bytes) => {
        const known = {
          Host: "localhost",
          Authorization: "Bearer secret",
          "Content-Type": "application/json",
        };
        const all = { ...known, "Mcp-Session-Id": session, ...Object.fromEntries(some) };
        const lines = Object.entries(all).map(([key, text]) => `${key}: ${text}\r\n`);
        const head = `${verb} ${target} HTTP/1.1\r\n${lines.join("")}Connection: close\r\nContent-Length: ${bytes.length}\r\n\r\n`;
        expect(await exchange(Buffer.concat([Buffer.from(head, "latin1"), bytes]))).toMatch(
          /^HTTP\/1\.1 [2345]\d\d /,
        );
      },
    ),
    { numRuns: 300 },
  );
});

test("bytes that are not HTTP are refused and the server lives", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
      const sent = Buffer.concat([Buffer.from("\0"), bytes]);
      expect(await exchange(sent)).toMatch(/^HTTP\/1\.1 400 /);
    }),
    { numRuns: 50 },
  );
});
