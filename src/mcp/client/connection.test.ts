import { expect, test, vi } from "vitest";
import { FakeClock, settle } from "../../../test/support/fakeClock.ts";
import { type FakeServer, legacyServer, modernServer, silence } from "../../../test/support/fakeServer.ts";
import { Cancellation } from "../../core/cancellation.ts";
import { ToolContext, type LogEntry, type Progress } from "../../core/context.ts";
import type { Log } from "../../core/effects.ts";
import { ToolError } from "../../core/errors.ts";
import { RpcError } from "../../wire/jsonrpc.ts";
import { connectUpstream, type ConnectOptions } from "./connect.ts";

async function connected(server: FakeServer, options: Partial<ConnectOptions> = {}) {
  const clock = new FakeClock();
  const log = vi.fn<Log>();
  const clientInfo = { name: "toolgate", version: "9" };
  const all = {
    namespace: "fs",
    dial: server.dial,
    clock,
    log,
    clientInfo,
    eraCache: { era: "legacy" as const },
  };
  if (server.answers["server/discover"]) Object.assign(all, { eraCache: {} });
  const connection = await connectUpstream({ ...all, ...options });
  return { clock, log, connection };
}

/** What a promise rejects with. */
const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => expect.unreachable(`resolved with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );

const calling = (init: ConstructorParameters<typeof ToolContext>[0] = {}) => new ToolContext(init);
const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more });
const pages = (...all: unknown[][]) => ({
  "tools/list": ({ cursor }: { cursor?: unknown }) => {
    const at = cursor === undefined ? 0 : Number(cursor);
    return { tools: all[at], ...(at + 1 < all.length && { nextCursor: String(at + 1) }) };
  },
});

test("a list keeps what MCP does not name, over all pages and in order", async () => {
  const unknown = tool("b", {
    "x-vendor": { deep: [1] },
    execution: { taskSupport: "optional" },
    _meta: { "a/b": 1 },
  });
  const { connection } = await connected(legacyServer(pages([tool("c")], [], [unknown, tool("a")])));
  expect(await connection.listTools()).toEqual([tool("c"), unknown, tool("a")]);
});

test("the empty string is a cursor, null is the end", async () => {
  const server = legacyServer({
    "tools/list": ({ cursor }) =>
      cursor === "" ? { tools: [tool("b")], nextCursor: null } : { tools: [tool("a")], nextCursor: "" },
  });
  const { connection } = await connected(server);
  expect((await connection.listTools()).map(({ name }) => name)).toEqual(["a", "b"]);
});

test("pages that never end are refused: a cursor that comes again, and ever new ones", async () => {
  const repeated = await connected(legacyServer({ "tools/list": () => ({ tools: [], nextCursor: "x" }) }));
  expect(await failure(repeated.connection.listTools())).toMatchObject({
    code: "Unavailable",
    message:
      'Upstream "fs" failed while its tools were listed: tools/list gave the same cursor twice: its pages would never end',
  });
  let n = 0;
  const endless = await connected(
    legacyServer({ "tools/list": () => ({ tools: [], nextCursor: `${++n}` }) }),
  );
  expect(await failure(endless.connection.listTools())).toMatchObject({
    message: expect.stringContaining("more than 1000 pages"),
  });
});

test("tools that cannot be served are left out and named in the log; of equal names the first stays", async () => {
  const first = tool("same", { title: "first" });
  const server = legacyServer(
    pages([
      first,
      tool("same"),
      { name: "bare" },
      { name: 7, inputSchema: {} },
      null,
      tool(""),
      { name: "arr", inputSchema: [] },
    ]),
  );
  const { connection, log } = await connected(server);
  expect(await connection.listTools()).toEqual([first]);
  expect(log.mock.calls.map(([level, message]) => `${level} ${message}`)).toEqual([
    'warning Upstream "fs": the tool "same" is left out: there is one of this name already.',
    'warning Upstream "fs": the tool "bare" is left out: its inputSchema is no object.',
    'warning Upstream "fs": the tool without a name is left out: a tool needs a name.',
    'warning Upstream "fs": the tool without a name is left out: a tool needs a name.',
    'warning Upstream "fs": the tool "" is left out: a tool needs a name.',
    'warning Upstream "fs": the tool "arr" is left out: its inputSchema is no object.',
  ]);
});

test("what clients could not read is mended in the list, and one line of the log names it", async () => {
  const odd = (name: string) => ({ name, inputSchema: {}, title: null });
  const many = Array.from({ length: 30 }, (_, at) => odd(`t${at}`));
  const { connection, log } = await connected(legacyServer(pages([odd("a"), tool("b")], many)));
  const names = ["a", "b", ...many.map(({ name }) => name)];
  expect(await connection.listTools()).toEqual(names.map((name) => tool(name)));
  expect(log).toHaveBeenCalledOnce();
  const [level, message] = log.mock.calls[0] ?? [];
  expect(level).toBe("warning");
  expect(message).toMatch(
    /^Upstream "fs": tools were defined wrongly and have been mended: "a" \(inputSchema, title\), "t0" .*"t18" \(inputSchema, title\), and 11 more\.$/,
  );
});

test("ever so many tools that are left out are a few lines of the log", async () => {
  const { connection, log } = await connected(legacyServer(pages(Array(5_000).fill({}))));
  expect(await connection.listTools()).toEqual([]);
  expect(log).toHaveBeenCalledTimes(21);
  expect(log.mock.lastCall?.[1]).toBe('Upstream "fs": 4980 more tools are left out.');
});

test("a list that is no list any more is refused: too many tools, or pages too long together", async () => {
  const many = await connected(legacyServer(pages(Array(10_001).fill({}))));
  expect(await failure(many.connection.listTools())).toMatchObject({
    message: expect.stringContaining("tools/list has more than 10000 tools"),
  });
  let n = 0;
  const page = () => ({ tools: [tool(`t${n++}`, { title: "x".repeat(4_000_000) })], nextCursor: `${n}` });
  const long = await connected(legacyServer({ "tools/list": page }));
  expect(await failure(long.connection.listTools())).toMatchObject({
    message: expect.stringContaining("tools/list is longer than 33554432 characters"),
  });
  expect(n).toBe(9);
});

test("a list without tools array is an error; a server without tools has none", async () => {
  const wrong = await connected(legacyServer({ "tools/list": () => ({ tools: "many" }) }));
  expect(await failure(wrong.connection.listTools())).toMatchObject({
    message: expect.stringContaining('no "tools" array'),
  });
  const none = legacyServer({
    initialize: () => ({ protocolVersion: "2025-11-25", capabilities: { prompts: {} } }),
  });
  delete none.answers["tools/list"];
  expect(await (await connected(none)).connection.listTools()).toEqual([]);
  const broken = legacyServer();
  delete broken.answers["tools/list"];
  expect(await failure((await connected(broken)).connection.listTools())).toMatchObject({
    code: "UpstreamError",
  });
});

test("a list has a time limit for all its pages", async () => {
  const { connection, clock } = await connected(legacyServer({ "tools/list": silence }), { listMs: 500 });
  const outcome = failure(connection.listTools());
  await clock.pass(500);
  expect(await outcome).toMatchObject({
    code: "Unavailable",
    message: 'Upstream "fs" did not answer while its tools were listed: not within 500 ms.',
  });
  expect(clock.pending).toBe(0);
});

test("a call passes on name, arguments and nothing else of the caller but its trace", async () => {
  const server = legacyServer();
  const { connection } = await connected(server);
  const metadata = { traceparent: "00-1-2-01", secret: "no", tracestate: 7 };
  await connection.callTool("read", { path: "/x" }, calling({ metadata }));
  const { params } = server.got("tools/call")[0]!;
  expect(params).toEqual({
    name: "read",
    arguments: { path: "/x" },
    _meta: { traceparent: "00-1-2-01", progressToken: expect.any(Number) },
  });
});

test("every modern request says what it speaks", async () => {
  const server = modernServer();
  const { connection } = await connected(server);
  await connection.listTools();
  await connection.callTool("read", {}, calling());
  for (const method of ["tools/list", "tools/call", "subscriptions/listen"])
    expect(server.got(method)[0]?.params?.["_meta"]).toMatchObject({
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "toolgate", version: "9" },
      "io.modelcontextprotocol/clientCapabilities": {},
    });
});

test("a result keeps members, blocks and _meta that MCP does not name; resultType stays behind", async () => {
  const answer = {
    resultType: "complete",
    content: [{ type: "hologram", data: 1 }],
    structuredContent: [0],
    isError: true,
    _meta: { "v/k": 1 },
    "x-cost": 3,
  };
  const { connection } = await connected(modernServer({ "tools/call": () => answer }));
  expect(await connection.callTool("read", {}, calling())).toEqual({
    content: [{ type: "hologram", data: 1 }],
    structuredContent: [0],
    isError: true,
    _meta: { "v/k": 1 },
    extra: { "x-cost": 3 },
  });
});

test("a result with structuredContent alone is one; without both it is an error", async () => {
  const server = legacyServer({
    "tools/call": ({ name }) => (name === "a" ? { structuredContent: null } : { content: "text" }),
  });
  const { connection } = await connected(server);
  expect(await connection.callTool("a", {}, calling())).toEqual({ content: [], structuredContent: null });
  expect(await failure(connection.callTool("b", {}, calling()))).toMatchObject({
    code: "ExecutionFailed",
    message: expect.stringMatching(/^Upstream "fs" answered b with something that is no tool result/),
  });
});

test("a result type that is not supported is named", async () => {
  for (const resultType of ["input_required", "task", 5]) {
    const { connection } = await connected(
      modernServer({ "tools/call": () => ({ resultType, content: [] }) }),
    );
    expect(await failure(connection.callTool("read", {}, calling()))).toMatchObject({
      code: "Unsupported",
      message: `Upstream "fs" answered read with a result of type ${JSON.stringify(resultType)}, which this gateway does not support.`,
    });
  }
});

test("a protocol error travels whole", async () => {
  const { connection } = await connected(
    legacyServer({
      "tools/call": () => {
        throw new RpcError(-32042, "open the page", { data: { elicitations: [1] } });
      },
    }),
  );
  expect(await failure(connection.callTool("read", {}, calling()))).toMatchObject({
    code: "UpstreamError",
    message: 'Upstream "fs": open the page',
    data: { error: { code: -32042, message: "open the page", data: { elicitations: [1] } } },
  });
});

test("progress reaches the call that it belongs to", async () => {
  const server = legacyServer({ "tools/call": silence });
  const { connection } = await connected(server);
  const heard: [string, Progress][] = [];
  for (const name of ["a", "b"])
    void connection.callTool(name, {}, calling({ onProgress: (progress) => heard.push([name, progress]) }));
  await settle();
  const { _meta } = server.got("tools/call")[1]!.params as { _meta: { progressToken: number } };
  server.notify("notifications/progress", { progressToken: _meta.progressToken, progress: 3, total: 4 });
  expect(heard).toEqual([["b", { progress: 3, total: 4 }]]);
});

test("a cancelled call is told to the server, and its late answer disturbs nobody", async () => {
  const server = legacyServer({ "tools/call": silence });
  const { connection } = await connected(server);
  const cancellation = new Cancellation();
  const outcome = failure(connection.callTool("read", {}, calling({ cancellation })));
  await settle();
  cancellation.cancel("enough");
  expect(await outcome).toMatchObject({ code: "Cancelled" });
  const { id } = server.got("tools/call")[0] as unknown as { id: number };
  expect(server.got("notifications/cancelled")[0]?.params).toEqual({ requestId: id, reason: "enough" });
  server.say({ jsonrpc: "2.0", id, result: { content: [] } });
  server.answers["tools/call"] = () => ({ content: [] });
  expect(await connection.callTool("read", {}, calling())).toEqual({ content: [] });
});

test("a server that goes away fails every call with what it was doing and why", async () => {
  const server = legacyServer({ "tools/call": silence });
  const { connection } = await connected(server);
  const outcome = failure(connection.callTool("read", {}, calling()));
  await settle();
  server.die("exited with code 137; its last words were: out of memory");
  expect(await outcome).toMatchObject({
    code: "Unavailable",
    message:
      'Upstream "fs" failed while read was called: exited with code 137; its last words were: out of memory',
  });
  expect((await connection.gone).message).toContain("137");
});

test("an oversized message fails every call in flight, and the next one works", async () => {
  const server = legacyServer({ "tools/call": silence });
  const { connection } = await connected(server);
  const outcomes = ["a", "b"].map((name) => failure(connection.callTool(name, {}, calling())));
  await settle();
  server.flood(1_000);
  for (const [index, name] of ["a", "b"].entries())
    expect(await outcomes[index]).toMatchObject({
      code: "ResultTooLarge",
      message: `Upstream "fs" failed while ${name} was called: a message was longer than the limit of 1000 bytes.`,
    });
  server.answers["tools/call"] = () => ({ content: [] });
  expect(await connection.callTool("c", {}, calling())).toEqual({ content: [] });
});

test("log lines go to the one call in flight, else to the gateway's log, and are cut there", async () => {
  const server = legacyServer({ "tools/call": silence });
  const { connection, log } = await connected(server);
  const entries: LogEntry[] = [];
  const call = (): Promise<unknown> =>
    connection.callTool("read", {}, calling({ onLog: (entry) => entries.push(entry) }));
  const say = (level: string): void =>
    server.notify("notifications/message", { level, data: "x".repeat(2_000), logger: "l" });
  say("error");
  void call();
  await settle();
  say("notice");
  void call();
  await settle();
  say("shout");
  expect(entries).toEqual([{ level: "notice", data: "x".repeat(2_000), logger: "l" }]);
  const line = `Upstream "fs": ${"x".repeat(1_000)}`;
  expect(log.mock.calls).toEqual([
    ["error", line],
    ["info", line],
  ]);
});

test("strays and unknown notifications change nothing", async () => {
  const server = legacyServer();
  const { connection, log } = await connected(server);
  server.say({ jsonrpc: "2.0", id: 999, result: {} });
  server.say("garbage");
  server.notify("notifications/unheard_of");
  server.notify("notifications/cancelled", { requestId: 1 });
  expect(await connection.callTool("read", {}, calling())).toMatchObject({ content: [{ text: "done" }] });
  expect(log.mock.calls.every(([level]) => level === "debug")).toBe(true);
});

test("a changed list is announced until the listener leaves", async () => {
  const server = legacyServer();
  const { connection } = await connected(server);
  const heard: string[] = [];
  const leave = connection.watch((kind) => heard.push(kind));
  server.notify("notifications/tools/list_changed");
  leave();
  server.notify("notifications/tools/list_changed");
  expect(heard).toEqual(["tools"]);
});

test("a subscription comes back after growing pauses, and a gap counts as a change", async () => {
  const ends: (() => void)[] = [];
  const server = modernServer({
    "subscriptions/listen": () => new Promise((end) => ends.push(() => end({}))),
  });
  const { connection, clock } = await connected(server);
  const changed = vi.fn<() => void>();
  connection.watch(changed);
  const acknowledge = (): void =>
    server.notify("notifications/subscriptions/acknowledged", { notifications: {} });
  const listens = (): number => server.got("subscriptions/listen").length;
  expect(server.got("subscriptions/listen")[0]?.params).toMatchObject({
    notifications: { toolsListChanged: true },
  });
  acknowledge();
  expect(changed).not.toHaveBeenCalled();
  ends[0]!();
  await clock.pass(1_000);
  expect(listens()).toBe(2);
  acknowledge();
  expect(changed).toHaveBeenCalledOnce();
  server.notify("notifications/cancelled", { requestId: 2 });
  await clock.pass(1_000);
  expect(listens()).toBe(3);
  await connection.close();
  expect(clock.pending).toBe(0);
});

test("no subscription where the server has no use for one, and none again where it does not know the method", async () => {
  const discover = modernServer().answers["server/discover"]!;
  const quiet = modernServer({
    "server/discover": async (...args) => ({
      ...((await discover(...args)) as object),
      capabilities: { tools: {} },
    }),
  });
  await connected(quiet);
  expect(quiet.got("subscriptions/listen")).toEqual([]);
  const ignorant = modernServer();
  delete ignorant.answers["subscriptions/listen"];
  const { clock } = await connected(ignorant);
  await clock.pass(600_000);
  expect(ignorant.got("subscriptions/listen")).toHaveLength(1);
});

test("a subscription ends with its server", async () => {
  const server = modernServer();
  const { clock } = await connected(server);
  server.die("gone");
  await clock.pass(600_000);
  expect(server.got("subscriptions/listen")).toHaveLength(1);
  expect(clock.pending).toBe(0);
});

test("parameters that a modern server marks go into headers; marks that break the rules cost the tool", async () => {
  const marked = (mark: unknown) => ({
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": mark } },
  });
  const server = modernServer(
    pages([tool("query", { inputSchema: marked("Region") }), tool("bad", { inputSchema: marked("a b") })]),
  );
  const { connection, log } = await connected(server);
  expect((await connection.listTools()).map(({ name }) => name)).toEqual(["query"]);
  expect(log).toHaveBeenCalledExactlyOnceWith(
    "warning",
    expect.stringContaining('"bad" is left out: its x-mcp-header "a b"'),
  );
  await connection.callTool("query", { region: "eu" }, calling());
  expect(server.extras.at(-1)?.headers).toEqual({ "Mcp-Param-Region": "eu" });
});

test("headers that no longer match are read again, once", async () => {
  let calls = 0;
  const server = modernServer({
    "tools/call": () => {
      calls += 1;
      throw new RpcError(-32020, "header mismatch");
    },
  });
  const { connection } = await connected(server);
  expect(await failure(connection.callTool("read", {}, calling()))).toMatchObject({ code: "UpstreamError" });
  expect([calls, server.got("tools/list").length]).toEqual([2, 1]);
});

test("facts say who checks the arguments", async () => {
  expect((await connected(legacyServer())).connection.facts()).toEqual({ validation: "upstream" });
  const checked = await connected(legacyServer(), { validateArguments: true, timeoutMs: 5 });
  expect(checked.connection.facts()).toEqual({ validation: "upstream-checked", timeoutMs: 5 });
});

test("closing fails what is in flight and whatever comes after", async () => {
  const server = legacyServer({ "tools/call": silence });
  const { connection } = await connected(server);
  const outcome = failure(connection.callTool("read", {}, calling()));
  await settle();
  await connection.close();
  await connection.close();
  expect(await outcome).toBeInstanceOf(ToolError);
  expect(await failure(connection.listTools())).toMatchObject({
    code: "Unavailable",
    message: expect.stringContaining("the gateway closed the connection"),
  });
  expect(server.open).toBe(0);
});
