import { describe, expect, test } from "vitest";
import { completeOf, FakeLibrary, getOf, readOf } from "../../test/support/library.ts";
import { callOf, FakeProvider } from "../../test/support/providers.ts";
import { ToolContext } from "../core/context.ts";
import { ToolError } from "../core/errors.ts";
import { exposedName } from "../core/names.ts";
import { ToolResult } from "../core/result.ts";
import { CompositeToolProvider } from "../providers/composite.ts";
import { createCaller } from "./call.ts";
import { hooks, type Hooks } from "./hooks.ts";

const ctx = new ToolContext({ agentId: "me" });

/** `fs` has `read` and `write.file`, the second under a safe name; their answer says what they were given. */
function setUp(...all: readonly Hooks[]) {
  const fs = new FakeProvider("fs", ["read", "write.file"]);
  fs.answer = (name, args) => ToolResult.structured({ name, args });
  const resolver = new CompositeToolProvider().add(fs);
  const caller = createCaller({ resolver, middleware: all.map((one) => hooks(one)) });
  const call = (name = "fs__read") => caller.call(callOf(name, { a: 1 }), ctx);
  return { fs, call, list: async () => (await caller.list(ctx)).map((tool) => tool.name) };
}

const given = (args: unknown) => ({
  type: "result",
  result: { structuredContent: { name: "read", args } },
});

describe("hooks", () => {
  test("none at all change nothing", async () => {
    const { call, list } = setUp({});
    expect(await call()).toMatchObject(given({ a: 1 }));
    expect(await list()).toHaveLength(2);
  });

  test("are named, for the errors that speak of them", () => {
    expect(hooks({}).name).toBe("hooks");
    expect(hooks({}, "mine").name).toBe("mine");
    expect(hooks({})).not.toHaveProperty("visible");
  });

  test("see an unknown tool neither before nor after", async () => {
    const seen: string[] = [];
    const { call } = setUp({
      beforeCall: (call) => void seen.push(call.name),
      afterCall: (call) => void seen.push(call.name),
    });
    expect(await call("fs__gone")).toMatchObject({ type: "error", error: { code: "NotFound" } });
    expect(seen).toEqual([]);
  });
});

test("hooks see tools and their calls only", async () => {
  const seen: unknown[] = [];
  const lib = new FakeLibrary("lib", { prompts: ["p"], resources: ["x://a"], templates: ["x://t/{a}"] });
  const watch = hooks({
    filterTools: (tool) => seen.push(tool) === 0,
    beforeCall: (call) => void seen.push(call),
    afterCall: (call) => void seen.push(call),
  });
  const caller = createCaller({ resolver: new CompositeToolProvider().add(lib), middleware: [watch] });
  for (const kind of ["prompt", "resource", "resourceTemplate"] as const)
    expect(await caller.items(kind, ctx)).toHaveLength(1);
  for (const operation of [getOf("p"), readOf("x://a"), completeOf("p")])
    expect(await caller.call(operation, ctx)).toMatchObject({ type: "result" });
  expect(seen).toEqual([]);
});

describe("filterTools", () => {
  const hidden = exposedName("fs__write.file");
  const filter: Hooks = { filterTools: (tool, given) => tool.name !== hidden || given !== ctx };

  test("holds for the list", async () => {
    expect(await setUp().list()).toEqual(["fs__read", hidden]);
    expect(await setUp(filter).list()).toEqual(["fs__read"]);
  });

  test.each(["fs__write.file", "write.file", hidden])("holds for a call of %s", async (name) => {
    expect(await setUp().call(name)).toMatchObject({ type: "result" });
    const { call, fs } = setUp(filter);
    expect(await call(name)).toMatchObject({ type: "error", error: { message: `Unknown tool: ${name}` } });
    expect(fs.called).toEqual([]);
  });

  test("leaves the others alone, also unprefixed", async () => {
    const { call } = setUp(filter);
    expect(await call("fs__read")).toMatchObject(given({ a: 1 }));
    expect(await call("read")).toMatchObject(given({ a: 1 }));
  });
});

describe("beforeCall", () => {
  test("sees the canonical name, the arguments and the context", async () => {
    const seen: unknown[] = [];
    const { call } = setUp({ beforeCall: (call, given) => void seen.push(call, given.agentId) });
    await call("read");
    expect(seen).toEqual([{ name: "fs__read", arguments: { a: 1 } }, "me"]);
  });

  test("that returns nothing leaves the arguments", async () => {
    expect(await setUp({ beforeCall: async () => {} }).call()).toMatchObject(given({ a: 1 }));
  });

  test("that returns arguments replaces them, also by none", async () => {
    expect(await setUp({ beforeCall: () => ({ b: 2 }) }).call()).toMatchObject(given({ b: 2 }));
    expect(await setUp({ beforeCall: async () => ({}) }).call()).toMatchObject(given({}));
  });

  test("refuses by throwing a ToolError, whose message reaches the caller", async () => {
    const { call, fs } = setUp({
      beforeCall: () => {
        throw new ToolError("PermissionDenied", "not on Fridays");
      },
    });
    expect(await call()).toMatchObject({
      type: "result",
      result: {
        isError: true,
        content: [{ text: "not on Fridays" }],
        metadata: { code: "PermissionDenied" },
      },
    });
    expect(fs.called).toEqual([]);
  });

  test("that breaks stops the call, and its message stays inside", async () => {
    const { call, fs } = setUp({ beforeCall: () => Promise.reject(new Error("secret")) });
    const outcome = await call();
    expect(outcome).toMatchObject({ type: "result", result: { isError: true } });
    expect(JSON.stringify(outcome)).not.toContain("secret");
    expect(fs.called).toEqual([]);
  });
});

describe("afterCall", () => {
  test("that returns nothing leaves the result", async () => {
    expect(await setUp({ afterCall: async () => {} }).call()).toMatchObject(given({ a: 1 }));
  });

  test("that returns a result replaces it", async () => {
    const { call } = setUp({ afterCall: (_call, result) => ToolResult.withMetadata(result, { cost: 3 }) });
    expect(await call()).toMatchObject({ type: "result", result: { metadata: { cost: 3 } } });
  });

  test("sees a failing tool's result", async () => {
    const seen: unknown[] = [];
    const { call, fs } = setUp({ afterCall: (call, result) => void seen.push(call.name, result.isError) });
    fs.answer = () => ToolResult.error("disk full");
    await call();
    expect(seen).toEqual(["fs__read", true]);
  });

  test("does not see what a tool asks before it answers", async () => {
    const seen: unknown[] = [];
    const { call, fs } = setUp({ afterCall: (call) => void seen.push(call) });
    fs.answer = () => ({ type: "input_required", requestState: "s" });
    expect(await call()).toMatchObject({ type: "input_required" });
    expect(seen).toEqual([]);
  });

  test("does not see a call that failed", async () => {
    const seen: unknown[] = [];
    const { call, fs } = setUp({ afterCall: (call) => void seen.push(call) });
    fs.answer = () => Promise.reject(new ToolError("Unavailable", "gone"));
    expect(await call()).toMatchObject({ type: "result", result: { metadata: { code: "Unavailable" } } });
    expect(seen).toEqual([]);
  });

  test("may refuse the result by throwing", async () => {
    const { call } = setUp({
      afterCall: () => {
        throw new ToolError("ResultTooLarge", "too much");
      },
    });
    expect(await call()).toMatchObject({ type: "result", result: { content: [{ text: "too much" }] } });
  });
});

describe("all three, several times", () => {
  test("unwind: the last to see the call is the first to see the result, and each sees what the one before left", async () => {
    const trace: unknown[] = [];
    const one = (name: string): Hooks => ({
      filterTools: () => true,
      beforeCall: (call) => {
        trace.push([`before ${name}`, call.arguments]);
        return { ...call.arguments, [name]: true };
      },
      afterCall: (call, result) => {
        trace.push([`after ${name}`, call.arguments, result.metadata ?? {}]);
        return ToolResult.withMetadata(result, { [name]: true });
      },
    });
    const outcome = await setUp(one("x"), one("y")).call();
    expect(trace).toEqual([
      ["before x", { a: 1 }],
      ["before y", { a: 1, x: true }],
      ["after y", { a: 1, x: true, y: true }, {}],
      ["after x", { a: 1, x: true }, { y: true }],
    ]);
    expect(outcome).toMatchObject(given({ a: 1, x: true, y: true }));
    expect(outcome).toMatchObject({ result: { metadata: { x: true, y: true } } });
  });

  test("a refusal by the second is not seen by the first's afterCall", async () => {
    const seen: string[] = [];
    const { call } = setUp(
      { beforeCall: () => void seen.push("before 1"), afterCall: () => void seen.push("after 1") },
      {
        beforeCall: () => {
          throw new ToolError("PermissionDenied", "no");
        },
      },
    );
    await call();
    expect(seen).toEqual(["before 1"]);
  });
});
