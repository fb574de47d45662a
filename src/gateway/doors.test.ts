import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import type { Endpoint } from "../wire/endpoint.ts";
import { defaultConfig } from "./config.ts";
import { openDoors, type Doors, type DoorsOptions } from "./doors.ts";
import type { Gateway, UpstreamStatus } from "./types.ts";

/** Answers every request with the name of the endpoint. */
const endpointOf = (name: string): Endpoint => ({
  handle: (incoming) =>
    incoming.kind === "request"
      ? { text: JSON.stringify({ jsonrpc: "2.0", id: incoming.message.id, result: { name } }), status: 200 }
      : undefined,
  closed: () => {},
});

const gateway = (upstreams: readonly UpstreamStatus[] = []): Gateway => ({
  caller: { list: async () => [], call: () => Promise.reject(new Error("unused")), watch: () => () => {} },
  endpoint: (namespace) =>
    namespace === undefined
      ? endpointOf("everything")
      : namespace === "fs"
        ? endpointOf("fs alone")
        : undefined,
  start: () => {},
  settled: async () => {},
  upstreams: () => upstreams,
  onUpstream: () => () => {},
  containment: { level: "none", explain: "" },
  close: async () => {},
});

let doors: Doors | undefined;
afterEach(() => doors?.close());

const open = async (options: Partial<DoorsOptions>): Promise<Doors> => {
  doors = await openDoors({ gateway: gateway(), config: defaultConfig("/"), log: () => {}, ...options });
  return doors;
};

const token = "0123456789abcdef";
const http = { host: "127.0.0.1", port: 0, tokens: new Map([["ada", token]]) };
const modern = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
const discover = { jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: modern } };

async function post(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: string }> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "server/discover",
      ...headers,
    },
    body: JSON.stringify(discover),
  });
  return { status: response.status, body: await response.text() };
}

describe("HTTP", () => {
  const authorization = `Bearer ${token}`;

  test("serves everything at /mcp and one provider at /mcp/<namespace>", async () => {
    const { url } = await open({ http });
    expect((await post(url!, { authorization })).body).toContain('"everything"');
    expect((await post(`${url}/fs`, { authorization })).body).toContain('"fs alone"');
  });

  test.each(["/nope", "/", "/fs/x"])("has nothing at /mcp%s", async (path) => {
    const { url } = await open({ http });
    expect((await post(url! + path, { authorization })).status).toBe(404);
  });

  test("wants a token, unless everybody may come in", async () => {
    const { url } = await open({ http });
    expect((await post(url!)).status).toBe(401);
    await doors?.close();
    const without = await open({ http: { ...http, tokens: "none" } });
    expect((await post(without.url!)).status).toBe(200);
  });

  test("is ready once no upstream is starting any more", async () => {
    const settled: UpstreamStatus[] = [
      { namespace: "a", state: "ready", restarts: 0 },
      { namespace: "b", state: "failed", restarts: 0 },
    ];
    const { url } = await open({ http, gateway: gateway(settled) });
    expect((await fetch(new URL("/readyz", url))).status).toBe(200);
    await doors?.close();
    const starting: UpstreamStatus[] = [...settled, { namespace: "c", state: "starting", restarts: 0 }];
    const early = await open({ http, gateway: gateway(starting) });
    const answer = await fetch(new URL("/readyz", early.url));
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain("upstreams: 1 ready, 1 starting, 1 failed");
  });

  test("is refused beyond loopback, whoever asks for it", async () => {
    await expect(open({ http: { ...http, host: "0.0.0.0" } })).rejects.toThrow(
      /"0\.0\.0\.0" names .* a policy is needed/,
    );
  });
});

test("standard input is served, and its end is told", async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  const { url, stdioClosed } = await open({ stdio: { input, output } });
  const answers = text(output);
  input.end(`${JSON.stringify(discover)}\n`);
  await stdioClosed;
  expect(await answers).toContain('"everything"');
  expect(url).toBeUndefined();
});
