import { describe, expect, it, vi } from "vitest";
import { Cancellation } from "../../core/cancellation.ts";
import type { ToolContext } from "../../core/context.ts";
import type { Log } from "../../core/effects.ts";
import { ToolError } from "../../core/errors.ts";
import type { Caller, Item, Operation, Outcome } from "../../core/operation.ts";
import { ToolResult } from "../../core/result.ts";
import { localPrincipal } from "../../core/principal.ts";
import type { ListKind, ToolProvider } from "../../core/provider.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import { Session, type Exchange, type ServerMessage } from "../../wire/endpoint.ts";
import { encode, parse } from "../../wire/jsonrpc.ts";
import { legacyVersions, metaKeys } from "../../wire/protocol.ts";
import { McpServerShell, type ShellOptions } from "./shell.ts";
import { deferred } from "../../../test/support/providers.ts";

const echo: ToolDefinition = {
  name: "echo",
  inputSchema: { type: "object" },
  title: "Echo",
  icons: [{ src: "data:," }],
};

interface FakeCaller extends Caller {
  changed(): void;
}

function callerOf(
  answer: (operation: Operation, ctx: ToolContext) => Outcome | Promise<Outcome>,
  tools: readonly ToolDefinition[] = [echo],
): FakeCaller {
  const listeners = new Set<(kind: ListKind) => void>();
  return {
    list: async () => tools,
    items: async (kind) => (kind === "tool" ? tools.map(itemOf) : []),
    find: async () => undefined,
    info: async () => ({ capabilities: { tools: {} } }),
    call: async (operation, ctx) => answer(operation, ctx),
    watch: (listener) => (listeners.add(listener), () => listeners.delete(listener)),
    changed: () => listeners.forEach((listener) => listener("tools")),
  };
}

const nobody: ToolProvider = {
  namespace: "fs",
  listTools: async () => [],
  callTool: () => Promise.reject(new Error("nobody calls it")),
};

const itemOf = (definition: ToolDefinition): Item => ({
  kind: "tool",
  provider: nobody,
  name: definition.name,
  canonicalName: definition.name,
  definition,
  facts: {},
});

const ok = (text: string): Outcome => ({ type: "result", result: ToolResult.success(text) });
const failure = (error: ToolError): Outcome => ({ type: "error", error });

/** A client on a connection that stays. */
function connect(caller: Caller = callerOf(() => ok("done")), options: Partial<ShellOptions> = {}) {
  const shell = new McpServerShell({ caller, serverInfo: { name: "test", version: "1" }, ...options });
  const unsolicited: ServerMessage[] = [];
  const notified: ServerMessage[] = [];
  const session = new Session((message) => unsolicited.push(message));
  const exchange: Exchange = {
    principal: localPrincipal,
    session,
    cancellation: new Cancellation(),
    send: (message) => notified.push(message) > 0,
  };
  const raw = async (text: string, over: Exchange = exchange) => {
    const reply = await shell.handle(parse(text), over);
    return reply && { ...JSON.parse(reply.text), status: reply.status };
  };
  const send = (message: object, over?: Exchange) =>
    raw(JSON.stringify({ jsonrpc: "2.0", ...message }), over);
  const initialize = async (protocolVersion: string = legacyVersions[0]) => {
    const reply = await send({
      id: "init",
      method: "initialize",
      params: { protocolVersion, capabilities: {}, clientInfo: { name: "c", version: "2" } },
    });
    await send({ method: "notifications/initialized" });
    return reply;
  };
  return { shell, session, exchange, unsolicited, notified, raw, send, initialize };
}

const modernMeta = { [metaKeys.protocolVersion]: "2026-07-28", [metaKeys.clientCapabilities]: {} };
const modernCall = { id: 1, method: "tools/call", params: { name: "echo", _meta: modernMeta } };

/** An exchange of a modern HTTP request. */
const overHttp = (headers: Record<string, string>): Exchange => ({
  principal: localPrincipal,
  headers: (name) => headers[name],
  cancellation: new Cancellation(),
  send: () => true,
});

describe("the legacy era", () => {
  it.each(legacyVersions)("echoes revision %s", async (version) => {
    const { initialize } = connect();
    expect((await initialize(version)).result.protocolVersion).toBe(version);
  });

  it.each(["2026-07-28", "1999-01-01"])(
    "offers its newest session revision to a client that asks for %s",
    async (version) => {
      const { initialize } = connect();
      expect((await initialize(version)).result.protocolVersion).toBe("2025-11-25");
    },
  );

  it("says who it is and what it can do", async () => {
    const { initialize } = connect(undefined, { instructions: "Be kind." });
    expect((await initialize()).result).toEqual({
      protocolVersion: "2025-11-25",
      capabilities: { tools: { listChanged: true }, logging: {} },
      serverInfo: { name: "test", version: "1" },
      instructions: "Be kind.",
    });
  });

  it("refuses everything but ping before initialize", async () => {
    const { send } = connect();
    expect(await send({ id: 1, method: "tools/list" })).toMatchObject({
      error: { code: -32002, message: "Server not initialized" },
    });
    expect(await send({ id: 2, method: "ping" })).toMatchObject({ id: 2, result: {} });
  });

  it("refuses long requests beyond 32 MiB in flight, and answers short ones and those of others", async () => {
    const { promise: end, resolve: finish } = deferred<Outcome>();
    const { raw, send, exchange, initialize } = connect(callerOf(() => end));
    await initialize("2025-03-26");
    const call = (id: number, junk = "x".repeat(15 * 1024 * 1024)) =>
      JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "read", junk } });
    const running = [raw(call(2)), raw(call(3))];
    expect(await raw(call(4))).toMatchObject({ id: 4, status: 429, error: { code: -32603 } });
    expect(await raw(`[${call(5)}]`)).toMatchObject({ status: 429, error: { code: -32603 } });
    expect((await send({ id: 6, method: "ping" })).result).toEqual({});
    const others = raw(call(7), { ...exchange, principal: { id: "other" } });
    finish(ok("done"));
    for (const reply of [...running, others]) expect(await reply).toMatchObject({ status: 200, result: {} });
    expect(await raw(call(8, "x".repeat(40 * 1024 * 1024)))).toMatchObject({ id: 8, status: 200 });
  });

  it("refuses capabilities that are too long to be kept for a session, and keeps no name that is none", async () => {
    const { send, session } = connect();
    const initialize = (capabilities: object, name: string) => {
      const params = { protocolVersion: legacyVersions[0], capabilities, clientInfo: { name, version: "1" } };
      return send({ id: 1, method: "initialize", params });
    };
    const long = "x".repeat(100_000);
    expect((await initialize({ experimental: { long } }, "c")).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("capabilities"),
    });
    expect(session.legacy).toBeUndefined();
    expect((await initialize({}, long)).result.protocolVersion).toBe(legacyVersions[0]);
    expect(session.legacy).toEqual({
      protocolVersion: legacyVersions[0],
      capabilities: {},
      subscriptions: new Map(),
    });
  });

  it("refuses an initialize without a version", async () => {
    const { send } = connect();
    expect((await send({ id: 1, method: "initialize", params: {} })).error.code).toBe(-32602);
  });

  it("lists definitions with every member that they have, and no result type", async () => {
    const { initialize, send } = connect();
    await initialize();
    expect((await send({ id: 1, method: "tools/list" })).result).toEqual({ tools: [echo] });
  });

  it("tells a tool's output as the session's revision has it: an object, or text", async () => {
    const answer: Outcome = { type: "result", result: { content: [], structuredContent: [1] } };
    const { initialize, send } = connect(callerOf(() => answer));
    await initialize();
    expect((await send({ id: 1, method: "tools/call", params: { name: "echo" } })).result).toEqual({
      content: [{ type: "text", text: "[1]" }],
    });
    expect((await send({ ...modernCall, id: 2 })).result).toMatchObject({
      content: [],
      structuredContent: [1],
    });
  });

  it("answers an empty list for no tools", async () => {
    const { initialize, send } = connect(callerOf(() => ok(""), []));
    await initialize();
    expect((await send({ id: 1, method: "tools/list", params: {} })).result).toEqual({ tools: [] });
  });

  it("does not know the modern era's methods", async () => {
    const { initialize, send } = connect();
    await initialize();
    expect(await send({ id: 1, method: "resources/frobnicate" })).toMatchObject({
      error: { code: -32601, message: "Method not found: resources/frobnicate" },
      status: 200,
    });
  });

  it("tells every session that was opened of a change, once for a burst", async () => {
    const caller = callerOf(() => ok(""));
    const opened = connect(caller);
    await opened.initialize();
    caller.changed();
    caller.changed();
    await Promise.resolve();
    expect(opened.unsolicited).toEqual([{ jsonrpc: "2.0", method: "notifications/tools/list_changed" }]);
  });

  it("tells nothing to a session that was not opened, or has ended", async () => {
    const caller = callerOf(() => ok(""));
    const { shell, session, unsolicited, initialize } = connect(caller);
    caller.changed();
    await Promise.resolve();
    await initialize();
    shell.closed(session);
    caller.changed();
    await Promise.resolve();
    expect(unsolicited).toEqual([]);
  });

  it("wants a session on HTTP", async () => {
    const { send } = connect();
    const reply = await send({ id: 1, method: "tools/list" }, overHttp({}));
    expect(reply).toMatchObject({ status: 400, error: { code: -32600 } });
    expect(reply.error.message).toContain("Mcp-Session-Id");
  });
});

describe("logs and progress", () => {
  const chatty = callerOf((_operation, ctx) => {
    ctx.log("debug", "quiet");
    ctx.log("error", { why: "loud" }, "disk");
    ctx.progress({ progress: 1, total: 2, message: "half" });
    ctx.progress({ progress: 1 });
    return ok("done");
  });
  const methodsOf = (sent: readonly ServerMessage[]) => sent.map((notification) => notification.method);

  it("reach the request that asked, growing progress only", async () => {
    const { initialize, send, notified } = connect(chatty);
    await initialize();
    await send({ id: 1, method: "tools/call", params: { name: "echo", _meta: { progressToken: "t" } } });
    expect(notified).toEqual([
      {
        jsonrpc: "2.0",
        method: "notifications/message",
        params: { level: "error", logger: "disk", data: { why: "loud" } },
      },
      {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: "t", progress: 1, total: 2, message: "half" },
      },
    ]);
  });

  it("never say of progress what is no number", async () => {
    const odd = callerOf((_operation, ctx) => {
      for (const progress of [Number.NaN, Number.POSITIVE_INFINITY]) ctx.progress({ progress });
      ctx.progress({ progress: 1, total: Number.POSITIVE_INFINITY });
      return ok("done");
    });
    const { send, notified } = connect(odd);
    await send({ ...modernCall, params: { name: "echo", _meta: { ...modernMeta, progressToken: 1 } } });
    expect(notified.map(({ params }) => params)).toEqual([{ progressToken: 1, progress: 1 }]);
  });

  it("obey logging/setLevel", async () => {
    const { initialize, send, notified } = connect(chatty);
    await initialize();
    await send({ id: 1, method: "logging/setLevel", params: { level: "emergency" } });
    await send({ id: 2, method: "tools/call", params: { name: "echo" } });
    expect(notified).toEqual([]);
    expect((await send({ id: 3, method: "logging/setLevel", params: { level: "loud" } })).error.code).toBe(
      -32602,
    );
  });

  it("need a level in the modern era", async () => {
    const { send, notified } = connect(chatty);
    await send(modernCall);
    expect(notified).toEqual([]);
    await send({
      ...modernCall,
      params: { name: "echo", _meta: { ...modernMeta, [metaKeys.logLevel]: "debug" } },
    });
    expect(methodsOf(notified)).toEqual(["notifications/message", "notifications/message"]);
    const bad = { ...modernMeta, [metaKeys.logLevel]: "loud" };
    expect((await send({ ...modernCall, params: { name: "echo", _meta: bad } })).error.code).toBe(-32602);
  });

  it("that are no JSON are left out, and the call goes on", async () => {
    const lines: string[] = [];
    const caller = callerOf((_operation, ctx) => (ctx.log("error", 1n), ok("done")));
    const { shell, exchange } = connect(caller, { log: (_level, message) => lines.push(message) });
    const strict = { ...exchange, send: (message: ServerMessage) => encode(message) !== "" };
    const _meta = { ...modernMeta, [metaKeys.logLevel]: "debug" };
    const text = JSON.stringify({ jsonrpc: "2.0", ...modernCall, params: { name: "echo", _meta } });
    const reply = await shell.handle(parse(text), strict);
    expect(reply?.text).toContain("done");
    expect(lines).toEqual(["notifications/message could not be sent"]);
  });

  it("stop with the answer", async () => {
    let late: ToolContext | undefined;
    const { send, notified } = connect(callerOf((_operation, ctx) => ((late = ctx), ok("done"))));
    await send({ ...modernCall, params: { name: "echo", _meta: { ...modernMeta, progressToken: 1 } } });
    late?.progress({ progress: 1 });
    expect(notified).toEqual([]);
  });
});

describe("the modern era", () => {
  it("needs no handshake, completes results and says who answered", async () => {
    const { send } = connect();
    expect((await send(modernCall)).result).toEqual({
      resultType: "complete",
      content: [{ type: "text", text: "done" }],
      _meta: { [metaKeys.serverInfo]: { name: "test", version: "1" } },
    });
  });

  it("lists with cache hints", async () => {
    const { send } = connect();
    const { result } = await send({ id: 1, method: "tools/list", params: { _meta: modernMeta } });
    expect(result).toMatchObject({ resultType: "complete", tools: [echo], ttlMs: 0, cacheScope: "private" });
  });

  it("lists schemas of answers that are no objects; older clients would refuse the whole list", async () => {
    const answers = (outputSchema: object) => ({ ...echo, outputSchema: { ...outputSchema } });
    const kept = answers({ type: "object", title: "T" });
    const tools = [kept, answers({ type: "array" }), answers({ oneOf: [{ type: "object" }] })];
    const caller = callerOf(() => ok("done"), tools);
    const modern = connect(caller);
    const { result } = await modern.send({ id: 1, method: "tools/list", params: { _meta: modernMeta } });
    expect(result.tools).toEqual(tools);
    const legacy = connect(caller);
    await legacy.initialize();
    expect((await legacy.send({ id: 1, method: "tools/list" })).result.tools).toEqual([kept, echo, echo]);
  });

  it("can be discovered", async () => {
    const { send } = connect();
    const { result } = await send({ id: 1, method: "server/discover", params: { _meta: modernMeta } });
    expect(result).toMatchObject({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {}, logging: {} },
      ttlMs: 0,
      cacheScope: "private",
    });
  });

  it.each([
    ["no _meta", "server/discover", undefined],
    ["no capabilities", "tools/list", { [metaKeys.protocolVersion]: "2026-07-28" }],
    ["a version that is no string", "tools/list", { ...modernMeta, [metaKeys.protocolVersion]: 7 }],
  ])("refuses a request with %s", async (_what, method, _meta) => {
    const { send } = connect();
    expect(await send({ id: 1, method, params: { ...(_meta && { _meta }) } })).toMatchObject({
      status: 400,
      error: { code: -32602 },
    });
  });

  it("names the versions that it has to a client of another", async () => {
    const { send } = connect();
    const _meta = { ...modernMeta, [metaKeys.protocolVersion]: "1900-01-01" };
    expect(await send({ id: 1, method: "tools/list", params: { _meta } })).toMatchObject({
      status: 400,
      error: {
        code: -32022,
        data: { requested: "1900-01-01", supported: ["2026-07-28"] },
      },
    });
  });

  it("answers 404 to an unknown method, and to those of the other era", async () => {
    const { send } = connect();
    for (const method of ["ping", "initialize", "logging/setLevel", "nonsense"])
      expect(await send({ id: 1, method, params: { _meta: modernMeta } })).toMatchObject({
        status: 404,
        error: { code: -32601 },
      });
  });

  const good = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo" };

  it("takes headers that say what the body says, encoded or not", async () => {
    const { send } = connect();
    expect((await send(modernCall, overHttp(good))).result.isError).toBeUndefined();
    const encoded = { ...good, "mcp-name": `=?base64?${btoa("echo")}?=` };
    expect((await send(modernCall, overHttp(encoded))).status).toBe(200);
  });

  it.each([
    ["another version", { ...good, "mcp-protocol-version": "2025-11-25" }],
    ["no version", { "mcp-method": "tools/call", "mcp-name": "echo" }],
    ["another method", { ...good, "mcp-method": "tools/list" }],
    ["another name", { ...good, "mcp-name": "rm" }],
    ["no name", { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call" }],
    ["a name in broken base64", { ...good, "mcp-name": "=?base64?%%%?=" }],
    ["a name in bytes that no header may hold", { ...good, "mcp-name": "\u00e9cho" }],
  ])("refuses headers with %s", async (_what, headers) => {
    const { send } = connect();
    expect(await send(modernCall, overHttp(headers))).toMatchObject({ status: 400, error: { code: -32020 } });
  });

  it("serves both eras on one connection", async () => {
    const { initialize, send } = connect();
    await initialize();
    expect((await send(modernCall)).result.resultType).toBe("complete");
    expect((await send({ id: 2, method: "tools/list" })).result.resultType).toBeUndefined();
  });
});

describe("calls", () => {
  it("carry who asks, and what the gateway adds", async () => {
    const seen: ToolContext[] = [];
    const caller = callerOf((_operation, ctx) => (seen.push(ctx), ok("")));
    const { initialize, send, session } = connect(caller, { context: { workspacePath: "/w" } });
    await initialize();
    await send({ id: 1, method: "tools/call", params: { name: "echo" } });
    const keyed = {
      ...modernMeta,
      "dev.toolgate/session": "mine",
      traceparent: "00-a-b-01",
      [metaKeys.clientInfo]: { name: "m", version: "3" },
    };
    await send({ ...modernCall, params: { name: "echo", _meta: keyed } });
    expect(seen[0]).toMatchObject({
      sessionKey: session.id,
      client: { name: "c", version: "2" },
      principal: { id: "local" },
      workspacePath: "/w",
    });
    expect(seen[1]).toMatchObject({
      meta: { traceparent: "00-a-b-01" },
      sessionKey: "local/mine",
      client: { name: "m", version: "3" },
    });
  });

  it("pass unknown members of a result on and keep metadata inside", async () => {
    const result = {
      ...ToolResult.success("x"),
      structuredContent: [1],
      extra: { odd: true },
      metadata: { secret: 1 },
    };
    const { send } = connect(callerOf(() => ({ type: "result", result })));
    const reply = await send(modernCall);
    expect(reply.result).toMatchObject({ odd: true, structuredContent: [1] });
    expect(JSON.stringify(reply)).not.toContain("secret");
  });

  it("keep the result of an extension as it is", async () => {
    const value = { resultType: "task", task: { id: 7 }, _meta: { a: 1 } };
    const { initialize, send } = connect(
      callerOf(() => ({ type: "result", result: { type: "raw", value } })),
    );
    const stamp = { [metaKeys.serverInfo]: { name: "test", version: "1" } };
    expect((await send(modernCall)).result).toEqual({ ...value, _meta: { a: 1, ...stamp } });
    await initialize();
    expect((await send({ id: 2, method: "tools/call", params: { name: "echo" } })).result).toEqual(value);
  });

  it.each([
    ["no name", {}],
    ["a name that is no string", { name: 7 }],
    ["arguments that are no object", { name: "echo", arguments: [1] }],
  ])("with %s are malformed", async (_what, params) => {
    const { initialize, send } = connect();
    await initialize();
    expect((await send({ id: 1, method: "tools/call", params })).error.code).toBe(-32602);
  });

  it("without an id are not run, and logged once", async () => {
    let runs = 0;
    const lines: string[] = [];
    const { initialize, send } = connect(
      callerOf(() => (runs++, ok(""))),
      { log: (_level, message) => lines.push(message) },
    );
    await initialize();
    expect(await send({ method: "tools/call", params: { name: "echo" } })).toBeUndefined();
    expect({ runs, lines: lines.length }).toEqual({ runs: 0, lines: 1 });
  });

  it("run side by side and are told at once when cancelled, without an answer", async () => {
    let started!: () => void;
    const running = new Promise<void>((resolve) => (started = resolve));
    const { initialize, send } = connect(
      callerOf(async (operation, ctx) => {
        if (operation.arguments["fast"]) return ok("fast");
        started();
        await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
        return ok("too late");
      }),
    );
    await initialize();
    const slow = send({ id: "slow", method: "tools/call", params: { name: "echo" } });
    await running;
    const fast = await send({
      id: "fast",
      method: "tools/call",
      params: { name: "echo", arguments: { fast: true } },
    });
    expect(fast.result.content[0].text).toBe("fast");
    await send({ method: "notifications/cancelled", params: { requestId: "slow" } });
    await expect(slow).resolves.toBeUndefined();
  });

  it("refuse an id that is in use, and free it afterwards", async () => {
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    const { initialize, send } = connect(callerOf(async () => (await held, ok(""))));
    await initialize();
    const call = { id: 1, method: "tools/call", params: { name: "echo" } };
    const first = send(call);
    expect((await send(call)).error.code).toBe(-32600);
    release();
    expect((await first).result).toBeDefined();
    expect((await send(call)).result).toBeDefined();
  });

  it("ignore a cancellation of what is unknown or malformed", async () => {
    const { initialize, send } = connect();
    await initialize();
    for (const params of [{ requestId: 99 }, { requestId: { a: 1 } }, {}])
      expect(await send({ method: "notifications/cancelled", params })).toBeUndefined();
  });

  it("end when their connection does", async () => {
    const { shell, session, initialize, send } = connect(
      callerOf(async (_operation, ctx) => {
        queueMicrotask(() => shell.closed(session));
        await new Promise((resolve) => ctx.cancellation.onCancel(resolve));
        return ok("");
      }),
    );
    await initialize();
    expect(await send({ id: 1, method: "tools/call", params: { name: "echo" } })).toBeUndefined();
  });

  it("hide a fault of ours", async () => {
    const { initialize, send } = connect({
      ...callerOf(() => ok("")),
      items: () => Promise.reject(new Error("secret path")),
    });
    await initialize();
    const reply = await send({ id: 1, method: "tools/list" });
    expect(reply).toMatchObject({ status: 500, error: { code: -32603, message: "Internal error" } });
    expect(JSON.stringify(reply)).not.toContain("secret");
  });
});

describe("errors of a call", () => {
  const upstream = (code: number) =>
    new ToolError("UpstreamError", 'Upstream "fs": no', {
      data: { error: { code, message: "no", data: { a: 1 } } },
    });

  it.each([
    [new ToolError("TooManyRequests", "Too many requests in flight"), -32603, 429],
    [upstream(-32050_0), -32050_0, 200],
    [upstream(-32002), -32603, 200],
    [upstream(-32042), -32603, 200],
    [upstream(-32077), -32603, 200],
    [upstream(-32021), -32021, 400],
    [new ToolError("Cancelled", "The call was cancelled."), -32603, 200],
  ])("%s", async (error, code, status) => {
    const { send } = connect(callerOf(() => failure(error)));
    expect(await send(modernCall)).toMatchObject({ status, error: { code, message: error.message } });
  });

  it("that only a modern upstream has a code for are internal ones in a legacy session", async () => {
    const { initialize, send } = connect(callerOf(() => failure(upstream(-32021))));
    await initialize();
    const reply = await send({ id: 1, method: "tools/call", params: { name: "echo" } });
    expect(reply.error).toEqual({ code: -32603, message: 'Upstream "fs": no', data: { a: 1 } });
  });

  it("that are for the model are results, whoever found them", async () => {
    const { send } = connect(callerOf(() => failure(new ToolError("Unavailable", "fs is not there"))));
    const content = [{ type: "text", text: "fs is not there" }];
    expect((await send(modernCall)).result).toMatchObject({ content, isError: true });
  });

  it("that have no number for a code are ours", async () => {
    for (const code of [Number.NaN, 1.5, Number.POSITIVE_INFINITY]) {
      const { send } = connect(callerOf(() => failure(upstream(code))));
      expect((await send(modernCall)).error.code).toBe(-32603);
    }
  });

  it("go out without data that is no JSON", async () => {
    const data = { error: { code: 7, message: "no", data: { big: 1n } } };
    const { send } = connect(callerOf(() => failure(new ToolError("UpstreamError", "no", { data }))));
    expect(await send(modernCall)).toMatchObject({ id: 1, status: 200, error: { code: 7, message: "no" } });
  });

  it("are an internal one where the answer cannot be encoded, whatever that throws", async () => {
    const log = vi.fn<Log>();
    const nameless: unknown = Object.create(null);
    const structuredContent = {
      toJSON() {
        throw nameless;
      },
    };
    const { send } = connect(
      callerOf(() => ({ type: "result", result: { content: [], structuredContent } })),
      { log },
    );
    expect((await send(modernCall)).error).toEqual({ code: -32603, message: "Internal error" });
    expect(log).toHaveBeenCalledOnce();
  });

  it("keep an upstream's code and data for a legacy client", async () => {
    const { initialize, send } = connect(callerOf(() => failure(upstream(-32002))));
    await initialize();
    expect((await send({ id: 1, method: "tools/call", params: { name: "echo" } })).error).toEqual({
      code: -32002,
      message: 'Upstream "fs": no',
      data: { a: 1 },
    });
  });
});

describe("pages", () => {
  const tools = ["a", "b", "c", "d", "e"].map((name) => ({ name, inputSchema: { type: "object" } }));

  it("follow a cursor to the end", async () => {
    const { initialize, send } = connect(
      callerOf(() => ok(""), tools),
      { pageSize: 2 },
    );
    await initialize();
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const { result } = await send({ id: 1, method: "tools/list", params: { ...(cursor && { cursor }) } });
      names.push(...result.tools.map((tool: ToolDefinition) => tool.name));
      cursor = result.nextCursor;
    } while (cursor);
    expect(names).toEqual(["a", "b", "c", "d", "e"]);
  });

  it.each(["", "nonsense", "%%", btoa("-1"), btoa("5"), btoa("1e1"), 7])(
    "refuse the cursor %j",
    async (cursor) => {
      const { initialize, send } = connect(
        callerOf(() => ok(""), tools),
        { pageSize: 2 },
      );
      await initialize();
      expect((await send({ id: 1, method: "tools/list", params: { cursor } })).error.code).toBe(-32602);
    },
  );
});

describe("dialects", () => {
  const unknown = callerOf((operation) => failure(ToolError.notFound(operation.name)));

  it.each([
    ["mcp", { error: { code: -32602, message: "Unknown tool: x" } }],
    ["nvim", { error: { code: -32601, message: "Tool not found: x" } }],
    ["clawft", { result: { isError: true, content: [{ type: "text", text: "Unknown tool: x" }] } }],
  ] as const)("%s: an unknown tool", async (dialect, expected) => {
    const { initialize, send } = connect(unknown, { dialect });
    await initialize();
    expect(await send({ id: 1, method: "tools/call", params: { name: "x" } })).toMatchObject(expected);
  });

  it.each([
    ["mcp", { jsonrpc: "2.0", error: { code: -32700, message: "Parse error" }, status: 400 }],
    ["nvim", { jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" }, status: 400 }],
    ["clawft", { jsonrpc: "2.0", id: null, error: { code: -32600, message: "Parse error" }, status: 400 }],
  ] as const)("%s: bad JSON", async (dialect, expected) => {
    const { raw } = connect(undefined, { dialect });
    expect(await raw("{nonsense")).toEqual(expected);
  });

  it.each(["mcp", "nvim", "clawft"] as const)("%s: what is no request", async (dialect) => {
    const { raw } = connect(undefined, { dialect });
    for (const text of ["7", "null", '"x"', '{"jsonrpc":"1.0","method":"ping"}', "{}"])
      expect(await raw(text)).toMatchObject({ error: { code: -32600, message: "Invalid Request" } });
    expect(await raw('{"jsonrpc":"1.0","id":3,"method":"ping"}')).toMatchObject({ id: 3 });
  });

  it("clawft refuses even an early ping", async () => {
    const { send } = connect(undefined, { dialect: "clawft" });
    expect((await send({ id: 1, method: "ping" })).error.code).toBe(-32002);
  });

  it("name the limit that a message broke", async () => {
    const { shell, exchange } = connect();
    const reply = await shell.handle({ kind: "invalid", reason: "size", limit: 4096 }, exchange);
    expect(JSON.parse(reply!.text)).toEqual({
      jsonrpc: "2.0",
      error: { code: -32600, message: "Message too large: the limit is 4096 bytes" },
    });
  });
});

describe("batches", () => {
  const batch = JSON.stringify([
    { jsonrpc: "2.0", id: 1, method: "ping" },
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 9 } },
    { jsonrpc: "2.0", id: 2, method: "tools/list" },
    7,
  ]);

  it("are served in a 2025-03-26 session", async () => {
    const { initialize, shell, exchange } = connect();
    await initialize("2025-03-26");
    const reply = await shell.handle(parse(batch), exchange);
    expect(JSON.parse(reply!.text)).toMatchObject([{ id: 1 }, { id: 2 }, { error: { code: -32600 } }]);
    const quiet = JSON.stringify([{ jsonrpc: "2.0", method: "notifications/initialized" }]);
    expect(await shell.handle(parse(quiet), exchange)).toBeUndefined();
  });

  it.each(["2024-11-05", "2025-06-18", "2025-11-25"])("are one error in a %s session", async (version) => {
    const { initialize, raw } = connect();
    await initialize(version);
    expect(await raw(batch)).toMatchObject({ status: 400, error: { code: -32600 } });
  });

  const pings = (count: number): string =>
    JSON.stringify(Array.from({ length: count }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" })));

  it("of too many messages are refused with the limit", async () => {
    const { initialize, raw, shell, exchange } = connect();
    await initialize("2025-03-26");
    const reply = await shell.handle(parse(pings(100)), exchange);
    expect(JSON.parse(reply!.text)).toHaveLength(100);
    expect(await raw(pings(101))).toMatchObject({
      status: 400,
      error: { code: -32600, message: expect.stringContaining("100") },
    });
  });

  it("whose answers are together more than fits into one text are one error", async () => {
    const huge = ok("x".repeat(64 * 1024 * 1024));
    const { initialize, raw } = connect(callerOf(() => huge));
    await initialize("2025-03-26");
    const calls = Array.from({ length: 5 }, (_, id) => ({ ...modernCall, jsonrpc: "2.0", id }));
    expect(await raw(JSON.stringify(calls))).toMatchObject({ error: { code: -32603 } });
  });

  it("that are empty are no request", async () => {
    const { initialize, raw } = connect();
    await initialize("2025-03-26");
    expect((await raw("[]")).error.code).toBe(-32600);
  });
});
