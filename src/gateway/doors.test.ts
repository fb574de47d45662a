import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { connectLines } from "../../test/support/lineClient.ts";
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

const unused = () => Promise.reject(new Error("unused"));

const gateway = (upstreams: readonly UpstreamStatus[] = []): Gateway => ({
  caller: { list: unused, items: unused, find: unused, call: unused, watch: () => () => {}, info: unused },
  endpoint: (namespace) =>
    namespace === undefined
      ? endpointOf("everything")
      : namespace === "fs"
        ? endpointOf("fs alone")
        : undefined,
  start: () => {},
  stop: async () => {},
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

  test("serves HTTP+SSE only where it is wanted", async () => {
    const headers = { authorization, accept: "text/event-stream" };
    const { url } = await open({ http: { ...http, sse: true } });
    const response = await fetch(`${url}/sse`, { headers });
    const { value } = await response.body!.getReader().read();
    expect(new TextDecoder().decode(value)).toMatch(/^event: endpoint\ndata: \/mcp\/messages\?sessionId=/);
    await doors?.close();
    const without = await open({ http });
    expect((await fetch(`${without.url}/sse`, { headers })).status).toBe(404);
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
});

test.each(["http", "tcp", "ws"])("%s is refused beyond loopback, whoever asks for it", async (door) => {
  await expect(open({ [door]: { ...http, host: "0.0.0.0" } })).rejects.toThrow(
    /"0\.0\.0\.0" names .* a policy is needed/,
  );
});

describe("doors whose connections stay", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "toolgate-doors-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const portOf = (url: string): number => Number(new URL(url).port);
  const request = (meta: object = modern) => ({ ...discover, params: { _meta: meta } });

  async function nameAt(url: string, headers: Record<string, string>): Promise<unknown> {
    const socket = new WebSocket(url, "mcp", { headers });
    await once(socket, "open");
    socket.send(JSON.stringify(discover));
    const [data] = (await once(socket, "message")) as [Buffer];
    socket.terminate();
    return JSON.parse(data.toString());
  }

  test("TCP serves everything, by the token of the first request", async () => {
    const { tcp } = await open({ tcp: http });
    const lines = await connectLines({ port: portOf(tcp!), host: "127.0.0.1" });
    const answer = await lines.ask(request({ "dev.toolgate/token": token }));
    expect(answer).toMatchObject({ result: { name: "everything" } });
    await lines.close();
  });

  test("a Unix socket serves everything, without a token", async () => {
    const path = join(folder, "gate.sock");
    expect((await open({ unix: path })).unix).toBe(`unix:${path}`);
    const lines = await connectLines({ path });
    expect(await lines.ask(request())).toMatchObject({ result: { name: "everything" } });
    await lines.close();
  });

  test("WebSocket serves everything at / and /mcp, and one provider at /mcp/<namespace>", async () => {
    const { ws } = await open({ ws: http });
    const headers = { Authorization: `Bearer ${token}` };
    expect(await nameAt(ws!, headers)).toMatchObject({ result: { name: "everything" } });
    expect(await nameAt(new URL("/", ws).href, headers)).toMatchObject({ result: { name: "everything" } });
    expect(await nameAt(`${ws}/fs`, headers)).toMatchObject({ result: { name: "fs alone" } });
    await expect(nameAt(ws!, {})).rejects.toThrow("401");
    await expect(nameAt(`${ws}/nope`, headers)).rejects.toThrow("404");
  });

  test("Claude Code finds WebSocket by a lock file, whose token lets it in until the door closes", async () => {
    const ide = { folder: join(folder, "ide"), workspaceFolders: ["/work"] };
    const { ws, ideLock } = await open({ ws: { ...http, ide } });
    expect(ideLock).toBe(join(ide.folder, `${portOf(ws!)}.lock`));
    const { authToken } = JSON.parse(await readFile(ideLock!, "utf8")) as { authToken: string };
    const headers = { "X-Claude-Code-Ide-Authorization": authToken };
    expect(await nameAt(new URL("/", ws).href, headers)).toMatchObject({ result: { name: "everything" } });
    expect(await nameAt(ws!, { Authorization: `Bearer ${token}` })).toHaveProperty("result");
    await doors?.close();
    await doors?.close();
    expect(await readdir(ide.folder)).toEqual([]);
  });

  test("where one cannot be opened none is", async () => {
    const path = join(folder, "gate.sock");
    await writeFile(join(folder, "ide"), "a file in the place of a folder");
    const ide = { folder: join(folder, "ide"), workspaceFolders: [] };
    await expect(open({ unix: path, ws: { ...http, ide } })).rejects.toThrow("The lock file");
    await expect(connectLines({ path })).rejects.toThrow("ENOENT");
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
