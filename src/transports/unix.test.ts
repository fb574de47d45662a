import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { EchoEndpoint } from "../../test/support/echoEndpoint.ts";
import { connectLines } from "../../test/support/lineClient.ts";
import type { LinkEvents } from "../wire/link.ts";
import type { SocketListener } from "./socketListener.ts";
import { dialUnix, listenUnix } from "./unix.ts";

let folder: string;
let path: string;
const listeners: SocketListener[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolgate-unix-"));
  path = join(folder, "gate.sock");
});

afterEach(async () => {
  await Promise.all(listeners.splice(0).map((listener) => listener.close()));
  await rm(folder, { recursive: true });
});

const request = { jsonrpc: "2.0", id: 1, method: "m" };

async function listen(at = path): Promise<EchoEndpoint> {
  const endpoint = new EchoEndpoint();
  listeners.push(await listenUnix({ endpoint, path: at, log: () => {} }));
  return endpoint;
}

test("serves the user who runs it, without a token", async () => {
  const endpoint = await listen();
  const lines = await connectLines({ path });
  expect(await lines.ask(request)).toMatchObject({ id: 1, result: { method: "m" } });
  expect(endpoint.exchanges[0]?.principal.id).toBe("local");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(listeners[0]?.url).toBe(`unix:${path}`);
  await listeners[0]?.close();
  await lines.rest;
  expect(existsSync(path)).toBe(false);
});

test("a client that begins with a line that is no message is cut off; later ones are answered", async () => {
  const endpoint = await listen();
  const page = await connectLines({ path });
  page.write(`POST / HTTP/1.1\r\n\r\n${JSON.stringify(request)}\n`);
  expect(await page.rest).toBe("");
  expect(endpoint.seen).toEqual([]);
  const lines = await connectLines({ path });
  await lines.ask(request);
  lines.write("nonsense\n");
  expect(await lines.answer()).toEqual({ invalid: true });
  await lines.close();
});

test("a file that a dead server left behind is replaced", async () => {
  const dead = createServer().listen(join(folder, "dead"));
  await once(dead, "listening");
  await rename(join(folder, "dead"), path);
  dead.close();
  await once(dead, "close");
  expect(statSync(path).isSocket()).toBe(true);
  await listen();
  const lines = await connectLines({ path });
  expect(await lines.ask(request)).toHaveProperty("result");
  await lines.close();
});

test("a server that is alive keeps its file", async () => {
  await listen();
  await expect(listen()).rejects.toThrow(`Cannot listen on ${path}: another program listens there. Stop it`);
  const lines = await connectLines({ path });
  expect(await lines.ask(request)).toHaveProperty("result");
  await lines.close();
});

test("a file that is no socket is left alone", async () => {
  await writeFile(path, "precious");
  await expect(listen()).rejects.toThrow(`Cannot listen on ${path}: it exists and is no socket.`);
  expect(existsSync(path)).toBe(true);
});

test("a path that cannot be used is told with what to do", async () => {
  const missing = join(folder, "no", "gate.sock");
  await expect(listen(missing)).rejects.toThrow(
    `Cannot listen on ${missing}: its folder does not exist, or this user`,
  );
  await expect(listen(join(folder, "x".repeat(100)))).rejects.toThrow(/the path may have 10[37] bytes/);
});

test("dialUnix reaches it, and says where nobody is", async () => {
  await listen();
  const events = { message: vi.fn<LinkEvents["message"]>(), closed: vi.fn<LinkEvents["closed"]>() };
  const link = await dialUnix({ path })(events);
  void link.send({ jsonrpc: "2.0", id: 1, method: "m" });
  await vi.waitFor(() => expect(events.message).toHaveBeenCalled());
  await link.close();
  const nowhere = join(folder, "nowhere");
  await expect(dialUnix({ path: nowhere })(events)).rejects.toThrow(`Could not reach unix:${nowhere}: `);
});
