import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { request as httpRequest, type RequestOptions } from "node:http";
import { connect, type NetConnectOpts } from "node:net";
import { join } from "node:path";
import { Client, type Transport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { WebSocketClientTransport } from "@modelcontextprotocol/sdk/client/websocket.js";
import fc from "fast-check";
import { afterEach, describe, expect, vi } from "vitest";
import { WebSocket } from "ws";
import { connectV2Http } from "../support/clients.ts";
import { test as base } from "../support/e2e.ts";
import { connectLines } from "../support/lineClient.ts";
import { initialize, initialized, legacy, modern } from "../support/rawHttp.ts";
import type { RunningToolgate } from "../support/toolgate.ts";

interface Doors extends RunningToolgate {
  readonly token: string;
  readonly tcp: { readonly host: string; readonly port: number };
  readonly unix: { readonly path: string };
  readonly ws: string;
  readonly lock: string;
}

const test = base.extend<{ doors: Doors }>({
  /** A gateway with the file tools and every door open. */
  doors: async ({ folder, start }, use) => {
    await writeFile(join(folder, "note.txt"), "Hello through a socket");
    const unix = { path: join(folder, "gate.sock") };
    const args = ["--http", "0", "--tcp", "0", "--unix", unix.path, "--ws", "0", "--ide"];
    const env = { CLAUDE_CONFIG_DIR: join(folder, "claude") };
    const toolgate = await start(["serve", ...args], { env });
    const tcp = { host: "127.0.0.1", port: Number(/tcp:\/\/127\.0\.0\.1:(\d+)/.exec(toolgate.output())![1]) };
    const ws = /ws:\/\/\S+/.exec(toolgate.output())![0];
    const lock = join(env.CLAUDE_CONFIG_DIR, "ide", `${new URL(ws).port}.lock`);
    await use({ ...toolgate, token: toolgate.token!, tcp, unix, ws, lock });
  },
});

const readNote = { name: "builtin__file_read", arguments: { path: "note.txt" } };
const withToken = (message: ReturnType<typeof legacy>, token: string) => ({
  ...message,
  params: {
    ...message.params,
    _meta: { ...(message.params["_meta"] as object | undefined), "dev.toolgate/token": token },
  },
});

describe("a raw client", () => {
  test("speaks both eras over TCP, once it has shown its token", async ({ doors }) => {
    const lines = await connectLines(doors.tcp);
    const opened = await lines.ask(withToken(initialize(), doors.token));
    expect(opened).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
    lines.send(initialized);
    expect(JSON.stringify(await lines.ask(legacy("tools/call", readNote, 2)))).toContain("Hello through");
    const answer = await lines.ask(modern("tools/call", readNote, 3));
    expect(JSON.stringify(answer)).toContain("Hello through");
    await lines.close();
  });

  test("may begin with a modern request, over TCP and over a Unix socket", async ({ doors }) => {
    for (const [target, message] of [
      [doors.tcp, withToken(modern("tools/list"), doors.token)],
      [doors.unix, modern("tools/list")],
    ] as const) {
      const lines = await connectLines(target);
      expect(JSON.stringify(await lines.ask(message))).toContain('"builtin__file_read"');
      await lines.close();
    }
  });

  test("without its token, or with another, is answered once", async ({ doors }) => {
    for (const message of [initialize(), withToken(modern("tools/list"), `${doors.token}x`)]) {
      const lines = await connectLines(doors.tcp);
      expect(await lines.ask(message)).toMatchObject({
        id: 1,
        error: { code: -32600, message: expect.stringContaining("dev.toolgate/token") },
      });
      expect(await lines.rest).toBe("");
    }
  });
});

test("a web page that posts to TCP or to a Unix socket gets nothing", async ({ doors }) => {
  const post = async (target: RequestOptions): Promise<unknown> => {
    const sent = httpRequest({ ...target, method: "POST", path: "/" });
    const message = withToken(modern("tools/call", readNote), doors.token);
    sent.end(`${JSON.stringify(message)}\n`.repeat(100));
    return once(sent, "response");
  };
  await expect(post(doors.tcp)).rejects.toThrow(/hang up|ECONNRESET|EPIPE/);
  await expect(post({ socketPath: doors.unix.path })).rejects.toThrow(/hang up|ECONNRESET|EPIPE/);
});

describe("over WebSocket", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  /** The transport of the official clients, which leaves headers to a class that it finds as a global. */
  const transportTo = (url: string, headers: Record<string, string>): WebSocketClientTransport => {
    class Authorized extends WebSocket {
      constructor(to: string | URL, protocols: string | string[]) {
        super(to, protocols, { headers });
      }
    }
    vi.stubGlobal("WebSocket", Authorized);
    return new WebSocketClientTransport(new URL(url));
  };

  test("the official client of 2025 calls a tool", async ({ doors, closing }) => {
    const client = closing(new ClientV1({ name: "toolgate-tests", version: "1.0.0" }));
    await client.connect(transportTo(doors.ws, { Authorization: `Bearer ${doors.token}` }));
    expect(JSON.stringify(await client.callTool(readNote))).toContain("Hello through");
  });

  test.for(["legacy", "modern", "auto"] as const)(
    "the official client of 2026 does: %s",
    async (era, { doors, closing }) => {
      const mode = era === "modern" ? { pin: "2026-07-28" } : era;
      const self = { name: "toolgate-tests", version: "1.0.0" };
      const client = closing(new Client(self, { versionNegotiation: { mode } }));
      const transport = transportTo(doors.ws, { Authorization: `Bearer ${doors.token}` });
      await client.connect(transport as Transport);
      expect(JSON.stringify(await client.callTool(readNote))).toContain("Hello through");
      expect(client.getNegotiatedProtocolVersion()).toBe(era === "legacy" ? "2025-11-25" : "2026-07-28");
    },
  );

  test("an editor's client comes in by the lock file, which goes with the gateway", async ({
    doors,
    closing,
  }) => {
    const { authToken, pid } = JSON.parse(await readFile(doors.lock, "utf8")) as Record<string, string>;
    expect(pid).toBe(doors.pid);
    const client = closing(new ClientV1({ name: "toolgate-tests", version: "1.0.0" }));
    const headers = { "X-Claude-Code-Ide-Authorization": authToken! };
    await client.connect(transportTo(new URL("/", doors.ws).href, headers));
    expect(JSON.stringify(await client.callTool(readNote))).toContain("Hello through");
    await doors.stop();
    expect(existsSync(doors.lock)).toBe(false);
    expect(existsSync(doors.unix.path)).toBe(false);
    expect((await doors.exited).code).toBe(0);
  });
});

test("a second signal right after the first leaves no file behind", async ({ doors }) => {
  for (const signal of ["SIGTERM", "SIGTERM"] as const) process.kill(doors.pid, signal);
  await doors.exited;
  expect(existsSync(doors.lock)).toBe(false);
  expect(existsSync(doors.unix.path)).toBe(false);
});

test("a gateway reaches another by every address", async ({ doors, start, closing, folder }) => {
  const headers = { Authorization: `Bearer ${doors.token}` };
  const tcp = `tcp://127.0.0.1:${doors.tcp.port}`;
  const mcpServers = {
    tcp: { url: tcp, headers },
    unix: { url: `unix:${doors.unix.path}` },
    ws: { type: "ws", url: doors.ws, headers },
    stranger: { url: tcp },
    refused: { url: doors.ws },
  };
  const first = { HOME: join(folder, "home"), XDG_STATE_HOME: join(folder, "second") };
  const second = await start(["serve", "--http", "0"], { config: { mcpServers }, env: first });
  const client = closing(await connectV2Http(second));
  for (const name of ["tcp", "unix", "ws"]) {
    await vi.waitFor(
      () => expect(second.output()).toMatch(new RegExp(`ready +${name}: .*2026-07-28`)),
      10_000,
    );
    const call = { ...readNote, name: `${name}__builtin__file_read` };
    expect(JSON.stringify(await client.callTool(call))).toContain("Hello through");
  }
  await vi.waitFor(() => {
    expect(second.output()).toMatch(/failed +stranger: .*This server wants a token/);
    expect(second.output()).toMatch(/failed +refused: .*refused the connection with 401/);
  }, 10_000);
  expect(second.output()).not.toContain(doors.token);
});

test("no door falls over garbage", async ({ doors }) => {
  const targets: NetConnectOpts[] = [doors.tcp, doors.unix, { port: Number(new URL(doors.ws).port) }];
  const send = async (target: NetConnectOpts, bytes: Uint8Array): Promise<void> => {
    const socket = connect(target);
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.on("error", () => {}).resume();
    socket.end(bytes);
    await closed;
  };
  const lineOf = (text: string): Uint8Array => Buffer.from(`${text}\n`);
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 5000 }),
    fc.json().map(lineOf),
    fc.array(fc.json()).map((all) => lineOf(all.join("\n"))),
  );
  await fc.assert(
    fc.asyncProperty(bytes, async (some) => {
      await Promise.all(targets.map((target) => send(target, some)));
    }),
    { numRuns: 50 },
  );
  const lines = await connectLines(doors.tcp);
  expect(await lines.ask(withToken(modern("tools/list"), doors.token))).toHaveProperty("result");
  await lines.close();
  expect(doors.log()).not.toMatch(/ error /);
});
