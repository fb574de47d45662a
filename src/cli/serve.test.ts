import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FakeIo, type FakeIoOptions } from "../../test/support/fakeIo.ts";

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "toolgate-serve-"));
});

afterEach(() => rm(home, { recursive: true, force: true }));

const io = (options: FakeIoOptions = {}): FakeIo =>
  new FakeIo({ ...options, cwd: home, env: { XDG_STATE_HOME: home, ...options.env } });

const configure = (config: object): Promise<void> =>
  writeFile(join(home, "toolgate.json"), JSON.stringify(config));

/** Starts, waits until it is announced, and ends it by a signal. */
async function served(io: FakeIo, ...argv: string[]): Promise<string> {
  const running = io.run("serve", ...argv);
  await Promise.race([io.stdout.shows("serves MCP on"), io.stderr.shows("serves MCP on"), running]);
  io.interrupt();
  expect(await running).toBe(0);
  expect(io.events).toEqual(["start", "open doors", "stop", "close doors", "close gateway"]);
  return io.stdout.text;
}

test("with no flags serves HTTP on 127.0.0.1:7070 with a token that it made", async () => {
  const it = io();
  const text = await served(it);
  const token = (await readFile(join(home, "toolgate", "token"), "utf8")).trim();
  expect(it.doors?.http).toEqual({
    host: "127.0.0.1",
    port: 7070,
    sse: false,
    tokens: new Map([["local", token]]),
  });
  expect(it.doors?.stdio).toBeUndefined();
  expect(it.config?.tools?.workspace).toBe(home);
  expect(text).toContain("Toolgate 1.2.3 serves MCP on http://127.0.0.1:7070/mcp\n");
  expect(text).toContain(
    `claude mcp add --transport http toolgate http://127.0.0.1:7070/mcp --header "Authorization: Bearer ${token}"\n`,
  );
  expect(text).toContain("  /mcp          everything, as NAMESPACE__TOOL\n  /mcp/builtin  ");
  expect(it.stderr.text).toContain("notice A bearer token was made and is kept in ");
});

test("tells how each upstream is, and when that changes", async () => {
  await configure({ mcpServers: { fs: { command: "a" }, gh: { command: "b" } } });
  const it = io({
    upstreams: [
      { namespace: "fs", state: "starting", restarts: 0 },
      { namespace: "gh", state: "failed", error: "exit 1", restarts: 0 },
    ],
  });
  const running = it.run("serve");
  await it.stdout.shows("starting fs\nfailed   gh: exit 1\n");
  it.upstream({
    namespace: "fs",
    state: "ready",
    tools: 1,
    era: "modern",
    protocolVersion: "2026-07-28",
    restarts: 0,
  });
  expect(it.stdout.text).toMatch(/\nready {4}fs: 1 tool, modern 2026-07-28\n$/);
  // Tried again, with the same end: no news.
  it.upstream({ namespace: "gh", state: "starting", restarts: 1 });
  it.upstream({ namespace: "gh", state: "failed", error: "exit 1", restarts: 1 });
  it.upstream({ namespace: "gh", state: "ready", tools: 2, restarts: 2 });
  expect(it.stdout.text).toMatch(/2026-07-28\nready {4}gh: 2 tools\n$/);
  it.interrupt();
  expect(await running).toBe(0);
  it.upstream({ namespace: "gh", state: "closed", restarts: 2 });
  expect(it.stdout.text).not.toContain("closed");
});

test("--stdio keeps standard output for the protocol and opens no port", async () => {
  const it = io();
  expect(await served(it, "--stdio")).toBe("");
  expect(it.doors).toMatchObject({ stdio: { input: it.stdin, output: it.stdout } });
  expect(it.doors?.http).toBeUndefined();
  expect(it.stderr.text).toContain("serves MCP on standard input and output\n");
  expect(it.stderr.text).not.toContain("Bearer");
});

test("--stdio beside --http opens both, and still says nothing on standard output", async () => {
  const it = io();
  expect(await served(it, "--stdio", "--http", "8080")).toBe("");
  expect(it.doors?.http).toMatchObject({ host: "127.0.0.1", port: 8080 });
  expect(it.stderr.text).toContain("serves MCP on http://127.0.0.1:8080/mcp and standard input and output\n");
});

test("the other doors are opened where they are named, and HTTP is not", async () => {
  const it = io();
  const text = await served(it, "--tcp", "7071", "--ws", "[::1]:7072", "--unix", "gate.sock");
  const token = (await readFile(join(home, "toolgate", "token"), "utf8")).trim();
  const tokens = new Map([["local", token]]);
  const unix = join(home, "gate.sock");
  const { http, tcp, ws } = it.doors!;
  expect({ http, tcp, ws, unix: it.doors?.unix }).toEqual({
    tcp: { host: "127.0.0.1", port: 7071, tokens },
    ws: { host: "::1", port: 7072, tokens },
    unix,
  });
  expect(text).toContain(`serves MCP on tcp://127.0.0.1:7071 and ws://::1:7072/mcp and unix:${unix}\n`);
  expect(text).toContain(`"_meta":{"dev.toolgate/token":"${token}"}`);
  expect(text).toContain(`{"url":"tcp://127.0.0.1:7071","headers":{"Authorization":"Bearer ${token}"}}`);
  expect(text).toContain(`{"mcpServers":{"toolgate":{"url":"unix:${unix}"}}}`);
  expect(text).toContain(`nc -U '${unix}'`);
  expect(text).toContain("/mcp/builtin");
});

test("--sse serves HTTP+SSE beside HTTP", async () => {
  const it = io();
  await served(it, "--http", "7070", "--sse");
  expect(it.doors?.http).toMatchObject({ port: 7070, sse: true });
});

test("a Unix socket alone needs no token, and none is made", async () => {
  const it = io();
  const text = await served(it, "--unix", "/run/gate.sock");
  expect(it.doors).toMatchObject({ unix: "/run/gate.sock" });
  expect(text).toContain("Connect a client:");
  expect(text).not.toContain("/mcp/builtin");
  await expect(readFile(join(home, "toolgate", "token"))).rejects.toThrow("ENOENT");
});

test("--ide announces the WebSocket door for the workspace, also where the configuration names it", async () => {
  const it = io({ env: { HOME: "/home/ada" } });
  const text = await served(it, "--ws", "7072", "--ide");
  expect(it.doors?.ws?.ide).toEqual({ folder: "/home/ada/.claude/ide", workspaceFolders: [home] });
  expect(text).toContain("Claude Code finds it by /home/ada/.claude/ide/7072.lock: type /ide");
  await configure({ listen: { ws: 7073 }, tools: { file: true, workspace: "/work" } });
  const configured = io();
  await served(configured, "--ide");
  expect(configured.doors?.ws?.ide?.workspaceFolders).toEqual(["/work"]);
});

test.each([
  [["--ide"], "--ide announces the WebSocket door, and there is none"],
  [["--ide", "--http", "1"], "add --ws PORT"],
  [["--no-auth", "--stdio"], "--no-auth is about HTTP, TCP and WebSocket"],
  [["--sse", "--tcp", "1"], "--sse is about HTTP, and no HTTP is served."],
  [["--no-auth", "--unix", "a"], "--no-auth is about HTTP, TCP and WebSocket"],
  [["--tcp", "0.0.0.0:1"], "--tcp 0.0.0.0:1: names an address that other machines can reach"],
  [["--ws", "x"], "--ws x: must be a port"],
  [["--unix", ""], "--unix needs the path"],
])("%j is wrong usage", async (flags, message) => {
  const it = io();
  expect(await it.run("serve", ...flags)).toBe(2);
  expect(it.stderr.text).toContain(message);
  expect(it.events).toEqual([]);
});

test("ends when the client on standard input is gone", async () => {
  const it = io();
  const running = it.run("serve", "--stdio");
  await it.stderr.shows("serves MCP on");
  it.leaveStdio();
  expect(await running).toBe(0);
  expect(it.events.slice(-3)).toEqual(["stop", "close doors", "close gateway"]);
});

test("--no-auth is for every network door", async () => {
  const it = io();
  const text = await served(it, "--no-auth", "--tcp", "1", "--ws", "2");
  expect(it.doors).toMatchObject({ tcp: { tokens: "none" }, ws: { tokens: "none" } });
  expect(text).not.toContain("Authorization");
  expect(text).not.toContain("dev.toolgate/token");
});

test("--no-auth asks for no token, says what that means and prints none", async () => {
  const it = io();
  const text = await served(it, "--no-auth", "--http", "[::1]:0");
  expect(it.doors?.http).toEqual({ host: "::1", port: 0, sse: false, tokens: "none" });
  expect(it.stderr.text).toContain("warning No token is asked for: every program on this machine");
  expect(text).toContain("claude mcp add");
  expect(text).not.toContain("Authorization");
  await expect(readFile(join(home, "toolgate", "token"))).rejects.toThrow("ENOENT");
});

test("principals bring their own tokens, which are not printed", async () => {
  await configure({ principals: { ada: { token: "0123456789abcdef" }, bob: { token: "fedcba9876543210" } } });
  const it = io();
  const text = await served(it);
  expect(it.doors?.http?.tokens).toEqual(
    new Map([
      ["ada", "0123456789abcdef"],
      ["bob", "fedcba9876543210"],
    ]),
  );
  expect(text).toContain("Connect a client, with the token of ada or bob for TOKEN:");
  expect(text + it.stderr.text).not.toContain("0123456789abcdef");
});

test("the configuration says where to listen, and flags replace it", async () => {
  await configure({ listen: { http: 7171, stdio: true } });
  const byConfig = io();
  await served(byConfig);
  expect(byConfig.doors).toMatchObject({ http: { port: 7171 }, stdio: { output: byConfig.stdout } });
  const byFlag = io();
  await served(byFlag, "--http", "7272");
  expect(byFlag.doors?.http?.port).toBe(7272);
  expect(byFlag.doors?.stdio).toBeUndefined();
});

test("a configuration that switches everything off is wrong usage", async () => {
  await configure({ listen: { http: false } });
  const it = io();
  expect(await it.run("serve")).toBe(2);
  expect(it.stderr.text).toContain("There is nothing to listen on");
});

test("a broken configuration shows every mistake and nothing is started", async () => {
  await writeFile(join(home, "toolgate.json"), '{\n"tool": {},\n"listen": { "http": -1 } }');
  const it = io();
  expect(await it.run("serve")).toBe(2);
  const file = join(home, "toolgate.json");
  expect(it.stderr.text.split("\n").slice(0, 3)).toEqual([
    "error The configuration cannot be used:",
    `${file}:2:1: tool: is not a known key. Did you mean "tools"?`,
    expect.stringContaining(`${file}:3:21: listen.http: must be a port`),
  ]);
  expect(it.events).toEqual([]);
});

test("what the author of a configuration should know is a line of the log", async () => {
  await configure({ mcpServers: { "my fs": { command: "a", autoApprove: [] } } });
  const it = io();
  await served(it);
  expect(it.stderr.text).toMatch(/ notice The server "my fs" has the namespace "my_fs-[0-9a-f]{8}"/);
  expect(it.stderr.text).toContain(
    " warning Fields of servers that Toolgate does not know are ignored: my fs.autoApprove.",
  );
  const once = io();
  await once.run("tools");
  expect(once.stderr.text).toBe("");
});

test("a port that is in use is wrong usage, and the gateway is closed again", async () => {
  const it = io({ closedDoors: new Error("Port 7070 on 127.0.0.1 is in use. Choose another.") });
  expect(await it.run("serve")).toBe(2);
  expect(it.stderr.text).toMatch(/(^|\n)error Port 7070 on 127\.0\.0\.1 is in use\. Choose another\.\n$/);
  expect(it.events).toEqual(["start", "close gateway"]);
  expect(it.interruptible).toBe(false);
});

test("a token that cannot be kept is told, with what to do", async () => {
  await writeFile(join(home, "toolgate"), "a file where the folder should be");
  const it = io();
  expect(await it.run("serve")).toBe(2);
  expect(it.stderr.text).toMatch(/^error The bearer token cannot be kept in /);
});

test("a second signal ends it at once", async () => {
  const it = io();
  const running = it.run("serve", "--stdio");
  await it.stderr.shows("serves MCP on");
  it.interrupt();
  it.interrupt();
  expect(await running).toBe(0);
  expect(it.exits).toEqual([130]);
});
