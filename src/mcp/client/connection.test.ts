import { describe, expect, test } from "vitest";
import { changeListener, connected, failure } from "../../../test/support/connected.ts";
import { settle } from "../../../test/support/fakeClock.ts";
import { announcing, legacyServer, modernServer, silence } from "../../../test/support/fakeServer.ts";
import { Cancellation } from "../../core/cancellation.ts";
import { ToolContext, type LogEntry, type Progress } from "../../core/context.ts";
import { ToolError } from "../../core/errors.ts";
import { RpcError } from "../../wire/jsonrpc.ts";
import type { UpstreamConnection } from "./connect.ts";

const toolsOf = async (connection: UpstreamConnection) => (await connection.list("tools")).entries;
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
  expect(await toolsOf(connection)).toEqual([tool("c"), unknown, tool("a")]);
});

test("the empty string is a cursor, null is the end", async () => {
  const server = legacyServer({
    "tools/list": ({ cursor }) =>
      cursor === "" ? { tools: [tool("b")], nextCursor: null } : { tools: [tool("a")], nextCursor: "" },
  });
  const { connection } = await connected(server);
  expect((await toolsOf(connection)).map(({ name }) => name)).toEqual(["a", "b"]);
});

test("pages that never end are refused: a cursor that comes again, and ever new ones", async () => {
  const repeated = await connected(legacyServer({ "tools/list": () => ({ tools: [], nextCursor: "x" }) }));
  expect(await failure(toolsOf(repeated.connection))).toMatchObject({
    code: "Unavailable",
    message:
      'Upstream "fs" failed while its tools were listed: tools/list gave the same cursor twice: its pages would never end',
  });
  let n = 0;
  const endless = await connected(
    legacyServer({ "tools/list": () => ({ tools: [], nextCursor: `${++n}` }) }),
  );
  expect(await failure(toolsOf(endless.connection))).toMatchObject({
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
  expect(await toolsOf(connection)).toEqual([first]);
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
  expect(await toolsOf(connection)).toEqual(names.map((name) => tool(name)));
  expect(log).toHaveBeenCalledOnce();
  const [level, message] = log.mock.calls[0] ?? [];
  expect(level).toBe("warning");
  expect(message).toMatch(
    /^Upstream "fs": tools were defined wrongly and have been mended: "a" \(inputSchema, title\), "t0" .*"t18" \(inputSchema, title\), and 11 more\.$/,
  );
});

test("ever so many tools that are left out are a few lines of the log", async () => {
  const { connection, log } = await connected(legacyServer(pages(Array(5_000).fill({}))));
  expect(await toolsOf(connection)).toEqual([]);
  expect(log).toHaveBeenCalledTimes(21);
  expect(log.mock.lastCall?.[1]).toBe('Upstream "fs": 4980 more tools are left out.');
});

test("a list that is no list any more is refused: too many tools, or pages too long together", async () => {
  const many = await connected(legacyServer(pages(Array(10_001).fill({}))));
  expect(await failure(toolsOf(many.connection))).toMatchObject({
    message: expect.stringContaining("tools/list has more than 10000 tools"),
  });
  let n = 0;
  const page = () => ({ tools: [tool(`t${n++}`, { title: "x".repeat(4_000_000) })], nextCursor: `${n}` });
  const long = await connected(legacyServer({ "tools/list": page }));
  expect(await failure(toolsOf(long.connection))).toMatchObject({
    message: expect.stringContaining("tools/list is longer than 33554432 characters"),
  });
  expect(n).toBe(9);
});

test("a list without tools array is an error; a server without tools has none", async () => {
  const wrong = await connected(legacyServer({ "tools/list": () => ({ tools: "many" }) }));
  expect(await failure(toolsOf(wrong.connection))).toMatchObject({
    message: expect.stringContaining('no "tools" array'),
  });
  const none = legacyServer({
    initialize: () => ({ protocolVersion: "2025-11-25", capabilities: { prompts: {} } }),
  });
  delete none.answers["tools/list"];
  expect(await toolsOf((await connected(none)).connection)).toEqual([]);
  const broken = legacyServer();
  delete broken.answers["tools/list"];
  expect(await failure(toolsOf((await connected(broken)).connection))).toMatchObject({
    code: "UpstreamError",
  });
});

test("a list has a time limit for all its pages", async () => {
  const { connection, clock } = await connected(legacyServer({ "tools/list": silence }), { listMs: 500 });
  const outcome = failure(toolsOf(connection));
  await clock.pass(500);
  expect(await outcome).toMatchObject({
    code: "Unavailable",
    message: 'Upstream "fs" did not answer while its tools were listed: not within 500 ms.',
  });
  expect(clock.pending).toBe(0);
});

test("a call passes on name, arguments and what the caller attached, and nothing else of the caller", async () => {
  for (const server of [legacyServer(), modernServer()]) {
    const { connection } = await connected(server);
    const meta = { traceparent: "00-1-2-01", "example.com/k": { deep: [1] } };
    const ctx = calling({ meta, metadata: { secret: "no" }, principal: { id: "ada" } });
    await connection.callTool("read", { path: "/x" }, ctx);
    const { params } = server.got("tools/call")[0]!;
    expect(params).toMatchObject({ name: "read", arguments: { path: "/x" }, _meta: meta });
    expect(JSON.stringify(params)).not.toMatch(/secret|ada/);
  }
});

test("a legacy request has no _meta of the modern protocol", async () => {
  const server = legacyServer();
  const { connection } = await connected(server);
  const answers = { responses: { a: {} }, requestState: "s" };
  const ctx = calling({ clientCapabilities: { sampling: {} }, logLevel: "info", answers });
  await connection.callTool("read", {}, ctx);
  expect(server.got("tools/call")[0]?.params).toEqual({
    name: "read",
    arguments: {},
    _meta: { progressToken: expect.any(Number) },
  });
});

test("a modern server learns what may be asked of the client that calls, and which logs it wants", async () => {
  const server = modernServer();
  const { connection } = await connected(server);
  const clientCapabilities = { elicitation: { form: {} }, extensions: { "example.com/x": { deep: true } } };
  const forged = { "io.modelcontextprotocol/protocolVersion": "1999-01-01", "a/b": 1 };
  await connection.callTool("read", {}, calling({ clientCapabilities, logLevel: "notice", meta: forged }));
  expect(server.got("tools/call")[0]?.params?.["_meta"]).toEqual({
    "a/b": 1,
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "toolgate", version: "9" },
    "io.modelcontextprotocol/clientCapabilities": clientCapabilities,
    "io.modelcontextprotocol/logLevel": "notice",
    progressToken: expect.any(Number),
  });
});

test("every modern request says what it speaks", async () => {
  const server = modernServer();
  const { connection } = await connected(server);
  await toolsOf(connection);
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
  for (const resultType of ["task", 5, null]) {
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

describe("log lines", () => {
  async function logging() {
    const server = legacyServer({ "tools/call": silence });
    const { connection, log } = await connected(server);
    const entries: string[] = [];
    const call = async (principal: string, who = principal): Promise<number> => {
      const onLog = ({ level, data, logger }: LogEntry): void =>
        void entries.push(`${who} ${level} ${String(data)} ${logger ?? "-"}`);
      void failure(connection.callTool("read", {}, calling({ onLog, principal: { id: principal } })));
      await settle();
      return server.requests("tools/call").at(-1)!.id as number;
    };
    const say = (level: string, cause?: number): void =>
      server.notify("notifications/message", { level, data: "x", logger: "l" }, cause);
    return { server, log, entries, call, say };
  }

  test("go to the newest call of the one principal that has any, else to the gateway's log", async () => {
    const { log, entries, call, say } = await logging();
    say("error");
    await call("ada", "ada 1");
    say("notice");
    await call("ada", "ada 2");
    say("shout");
    expect(entries).toEqual(["ada 1 notice x l", "ada 2 info x l"]);
    await call("bob");
    say("alert");
    expect(entries).toHaveLength(2);
    expect(log.mock.calls).toEqual([
      ["error", 'Upstream "fs": x'],
      ["alert", 'Upstream "fs": x'],
    ]);
  });

  test("go to the call on whose answer's stream they come, whoever else is there", async () => {
    const { log, entries, call, say } = await logging();
    const [ada, bob] = [await call("ada"), await call("bob")];
    say("info", ada);
    say("debug", bob);
    say("error", 999);
    expect(entries).toEqual(["ada info x l", "bob debug x l"]);
    expect(log).toHaveBeenCalledExactlyOnceWith("error", 'Upstream "fs": x');
  });

  test("are cut in the gateway's log, whatever they are", async () => {
    const { server, log } = await logging();
    server.notify("notifications/message", { level: "info", data: "x".repeat(2_000) });
    server.notify("notifications/message", { level: "info" });
    server.notify("notifications/message", { level: "info", data: { deep: [1] } });
    expect(log.mock.calls.map(([, text]) => text)).toEqual([
      `Upstream "fs": ${"x".repeat(1_000)}`,
      'Upstream "fs": ',
      'Upstream "fs": {"deep":[1]}',
    ]);
  });

  test("are all wanted of a legacy server that has levels, whether it takes that or not", async () => {
    const capabilities = { tools: {}, logging: {} };
    const server = announcing(legacyServer({ "logging/setLevel": () => ({}) }), capabilities);
    await connected(server);
    expect(server.got("logging/setLevel")[0]?.params).toEqual({ level: "debug" });
    const { log, clock } = await connected(announcing(legacyServer(), capabilities));
    await settle();
    expect(log).toHaveBeenCalledExactlyOnceWith("debug", expect.stringContaining("takes no log level"));
    expect(clock.pending).toBe(0);
    const modern = announcing(modernServer(), capabilities);
    await connected(modern);
    expect(modern.got("logging/setLevel")).toEqual([]);
  });
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

test("a changed list is told by its kind until the listener leaves", async () => {
  const server = legacyServer();
  const { connection } = await connected(server);
  const listener = changeListener();
  const leave = connection.watch(listener);
  for (const kind of ["tools", "prompts", "resources"]) server.notify(`notifications/${kind}/list_changed`);
  leave();
  server.notify("notifications/tools/list_changed");
  expect(listener.heard).toEqual(["tools", "prompts", "resources"]);
});

test("where messages were lost on the way, anything may have changed", async () => {
  const server = legacyServer();
  const { connection } = await connected(server);
  const listener = changeListener();
  connection.watch(listener);
  server.miss();
  expect(listener.heard).toEqual(["tools", "prompts", "resources", "missed"]);
});

test("a modern server is listened to for the changes that it announces; after a break each counts as one", async () => {
  const server = announcing(modernServer(), {
    tools: { listChanged: true },
    prompts: { listChanged: false },
    resources: { listChanged: true },
  });
  const { connection, clock } = await connected(server);
  const listener = changeListener();
  connection.watch(listener);
  const [listen] = server.requests("subscriptions/listen");
  expect(listen?.params).toMatchObject({
    notifications: { toolsListChanged: true, resourcesListChanged: true },
  });
  expect(listen?.params?.["notifications"]).not.toHaveProperty("promptsListChanged");
  server.notify("notifications/tools/list_changed");
  expect(listener.heard.splice(0)).toEqual(["tools"]);
  server.say({ jsonrpc: "2.0", id: listen!.id, result: { resultType: "complete" } });
  await clock.pass(1_000);
  expect(listener.heard).toEqual(["tools", "resources"]);
  await connection.close();
  expect(clock.pending).toBe(0);
});

test("no subscription where the server has no use for one, and none again where it does not know the method", async () => {
  const quiet = announcing(modernServer(), { tools: {} });
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
  expect((await toolsOf(connection)).map(({ name }) => name)).toEqual(["query"]);
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

test("closing fails what is in flight and whatever comes after", async () => {
  const server = legacyServer({ "tools/call": silence });
  const { connection } = await connected(server);
  const outcome = failure(connection.callTool("read", {}, calling()));
  await settle();
  await connection.close();
  await connection.close();
  expect(await outcome).toBeInstanceOf(ToolError);
  expect(await failure(toolsOf(connection))).toMatchObject({
    code: "Unavailable",
    message: expect.stringContaining("the gateway closed the connection"),
  });
  expect(server.open).toBe(0);
});
