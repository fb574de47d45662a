import { describe, expect, test } from "vitest";
import { completeOf, FakeLibrary, getOf, readOf, subscribeOf } from "../../test/support/library.ts";
import { resultOf } from "../../test/support/operation.ts";
import { callOf, FakeProvider, itemOf, resolverOf } from "../../test/support/providers.ts";
import { FakeTasks, taskOf } from "../../test/support/tasks.ts";
import { Cancellation } from "../core/cancellation.ts";
import { ToolContext, type Answers } from "../core/context.ts";
import { ToolError, toolErrorCodes, type ToolErrorCode } from "../core/errors.ts";
import type { Item, Operation } from "../core/operation.ts";
import type { ToolProvider } from "../core/provider.ts";
import { ToolResult, type InputRequired, type ToolOutput } from "../core/result.ts";
import { CompositeToolProvider } from "../providers/composite.ts";
import { createCaller } from "./call.ts";

const ctx = new ToolContext({ agentId: "me" });

function setUp() {
  const lib = new FakeLibrary("lib", {
    tools: ["t"],
    prompts: ["p.q"],
    resources: ["x://a"],
    templates: ["x://t/{one}"],
    there: ["x://t/1"],
  });
  const caller = createCaller({ resolver: new CompositeToolProvider().add(lib) });
  return { lib, caller, call: (operation: Operation) => caller.call(operation, ctx) };
}

const raw = (value: unknown) => ({ type: "result", result: { type: "raw", value } });
const asked: InputRequired = { type: "input_required", requestState: "later" };

describe("a tool", () => {
  test("may answer in another form, which is sent on as it is", async () => {
    const { lib, call } = setUp();
    lib.answer = () => ({ type: "raw", value: { resultType: "task" } });
    expect(await call(callOf("t"))).toEqual(raw({ resultType: "task" }));
  });

  test("may ask first: who asked is said with it", async () => {
    const { lib, call } = setUp();
    lib.answer = () => asked;
    expect(await call(callOf("t"))).toEqual({ type: "input_required", canonicalName: "lib__t", asked });
  });

  test.each([{ type: "raw" }, { type: "raw", value: 7 }, { type: "raw", value: [] }])(
    "that answers %j answers nothing",
    async (answer) => {
      const { lib, call } = setUp();
      lib.answer = () => answer as unknown as ToolOutput;
      expect(resultOf(await call(callOf("t")))).toMatchObject({
        isError: true,
        metadata: { code: "InvalidOutput" },
      });
    },
  );
});

describe("a prompt", () => {
  test("is asked under its own name, with the arguments and the context", async () => {
    const { lib, call } = setUp();
    lib.reply = async (name, args, { agentId }) => ({ given: [name, args, agentId] });
    expect(await call(getOf("lib__p.q", { a: "1" }))).toEqual(raw({ given: ["p.q", { a: "1" }, "me"] }));
  });

  test("may ask first", async () => {
    const { lib, call } = setUp();
    lib.reply = async () => asked;
    expect(await call(getOf("p.q"))).toEqual({ type: "input_required", canonicalName: "lib__p.q", asked });
  });
});

describe("a resource", () => {
  test.each(["x://a", "x://t/1"])("%s is read by its URI, also where a template owns it", async (uri) => {
    const { lib, call } = setUp();
    lib.reply = async (name, _args, { agentId }) => ({ given: [name, agentId] });
    expect(await call(readOf(uri))).toEqual(raw({ given: [uri, "me"] }));
  });

  test("may ask first", async () => {
    const { lib, call } = setUp();
    lib.reply = async () => asked;
    expect(await call(readOf("x://t/1"))).toEqual({
      type: "input_required",
      canonicalName: "lib__x://t/{one}",
      asked,
    });
  });

  test("is subscribed to by its URI", async () => {
    const { lib, call } = setUp();
    const subscriber = { updated: () => {}, cancellation: new Cancellation() };
    expect(await call(subscribeOf("x://t/1", subscriber))).toEqual(raw({}));
    expect([...lib.subscribers]).toEqual([[subscriber, "x://t/1"]]);
  });

  test("cannot be subscribed to by nobody, or where changes are not told", async () => {
    const { lib, call } = setUp();
    const refused = {
      type: "error",
      error: { code: "Unsupported", message: "Changes of x://a are not told by whoever serves it." },
    };
    expect(await call(subscribeOf("x://a"))).toMatchObject(refused);
    delete lib.resources.subscribe;
    const subscriber = { updated: () => {}, cancellation: new Cancellation() };
    expect(await call(subscribeOf("x://a", subscriber))).toMatchObject(refused);
    expect(lib.subscribers.size).toBe(0);
  });
});

describe("a completion", () => {
  test.each([
    ["lib__p.q", "p.q"],
    ["p.q", "p.q"],
    ["x://t/{one}", "x://t/{one}"],
    ["x://a", "x://a"],
  ])("for %s is asked of its provider, for %s", async (name, own) => {
    const { call } = setUp();
    expect(await call(completeOf(name))).toMatchObject(
      raw({ completion: { values: ["lib", own, "a", "x", '{"arguments":{"b":"y"}}'] } }),
    );
  });

  test("of a provider that completes nothing is refused by name", async () => {
    const { prompts } = new FakeLibrary("lib", { prompts: ["p"] });
    const mute: ToolProvider = {
      namespace: "lib",
      listTools: async () => [],
      callTool: async () => "",
      prompts,
    };
    const caller = createCaller({ resolver: new CompositeToolProvider().add(mute) });
    expect(await caller.call(completeOf("p"), ctx)).toMatchObject({
      type: "error",
      error: { code: "Unsupported", message: "lib completes no arguments." },
    });
  });
});

describe("a task", () => {
  const two = () => {
    const [a, b] = [new FakeTasks("a"), new FakeTasks("b")];
    const caller = createCaller({ resolver: new CompositeToolProvider().add(a).add(b) });
    return { a, b, call: (operation: Operation) => caller.call(operation, ctx) };
  };

  test("that a tool answers with has its provider's namespace before its id", async () => {
    const { call } = two();
    for (const namespace of ["a", "b"])
      expect(await call(callOf(`${namespace}__job`))).toEqual(
        raw({ resultType: "task", taskId: `${namespace}__7`, status: "working" }),
      );
  });

  test("is asked for under its own id, with the params and the context", async () => {
    const { a, b, call } = two();
    const inputResponses = { a: { action: "decline" } };
    expect(await call(taskOf("b__7"))).toEqual(
      raw({ taskId: "b__7", status: "working", statusMessage: "b" }),
    );
    expect(await call(taskOf("b__7", "tasks/update", { inputResponses }))).toEqual(raw({}));
    expect(await call(taskOf("b__7", "tasks/cancel"))).toEqual(raw({}));
    expect(a.asked).toEqual([]);
    expect(b.asked).toEqual([
      ["tasks/get", { taskId: "7" }, "me"],
      ["tasks/update", { taskId: "7", inputResponses }, "me"],
      ["tasks/cancel", { taskId: "7" }, "me"],
    ]);
  });

  test("that its provider does not know is not there", async () => {
    expect(await two().call(taskOf("a__8"))).toMatchObject({ type: "error", error: { code: "NotFound" } });
  });
});

describe("what is not there", () => {
  test.each([
    [callOf("lib__no"), "Unknown tool: lib__no"],
    [getOf("lib__t"), "Unknown prompt: lib__t"],
    [readOf("y://a"), "Resource not found: y://a"],
    [subscribeOf("y://a"), "Resource not found: y://a"],
    [completeOf("lib__t"), "Unknown prompt or resource template: lib__t"],
    [completeOf("y://{a}"), "Unknown prompt or resource template: y://{a}"],
    [taskOf("lib__7"), "Unknown task: lib__7"],
    [taskOf("7", "tasks/cancel"), "Unknown task: 7"],
  ])("%j: %s", async (operation, message) => {
    expect(await setUp().call(operation)).toMatchObject({
      type: "error",
      error: { code: "NotFound", message },
    });
  });

  test.each([
    [getOf("files__x"), "Unknown prompt: files__x"],
    [readOf("files__x"), "Resource not found: files__x"],
    [subscribeOf("files__x"), "Resource not found: files__x"],
    [taskOf("files__x", "tasks/update"), "Unknown task: files__x"],
  ])("of a provider that has none of the kind: %j", async (operation, message) => {
    const item = itemOf(new FakeProvider("files"), "x");
    const caller = createCaller({ resolver: resolverOf(item) });
    expect(await caller.call(operation, ctx)).toMatchObject({
      type: "error",
      error: { code: "NotFound", message },
    });
  });

  test("a question is nothing that a client may ask for", async () => {
    const { call } = setUp();
    const ask: Operation = { kind: "roots/list", name: "roots/list", arguments: {} };
    expect(await call(ask)).toMatchObject({ type: "error", error: { code: "NotFound" } });
    const item = itemOf(new FakeProvider("files"), "roots/list");
    const caller = createCaller({ resolver: resolverOf(item) });
    expect(await caller.call(ask, ctx)).toMatchObject({
      type: "error",
      error: { code: "Unsupported", message: "roots/list is asked of a client, not of a provider." },
    });
  });
});

describe("what fails and is no tool", () => {
  const codes = Object.keys(toolErrorCodes) as ToolErrorCode[];

  test.each(codes)("is an error, never a result: %s", async (code) => {
    const { lib, call } = setUp();
    const error = new ToolError(code, "no");
    lib.reply = () => Promise.reject(error);
    expect(await call(readOf("x://a"))).toEqual({ type: "error", error });
    expect(await call(getOf("p.q"))).toEqual({ type: "error", error });
  });

  test("unexpectedly keeps its message to the log", async () => {
    const { lib, call } = setUp();
    lib.reply = () => Promise.reject(new Error("secret"));
    const outcome = await call(readOf("x://a"));
    expect(outcome).toMatchObject({
      type: "error",
      error: { code: "ExecutionFailed", message: expect.stringMatching(/^x:\/\/a failed unexpectedly/) },
    });
  });
});

describe("answers", () => {
  const answers = (canonicalName: string) => ({ canonicalName, responses: { a: {} }, requestState: "s" });

  test("reach who asked", async () => {
    const { lib, call } = setUp();
    let seen: Answers | undefined;
    lib.answer = (_name, _args, { answers }) => {
      seen = answers;
      return "done";
    };
    expect(await call({ ...callOf("t"), answers: answers("lib__t") })).toMatchObject({ type: "result" });
    expect(seen).toMatchObject({ responses: { a: {} }, requestState: "s" });
    await call(callOf("t"));
    expect(seen).toBeUndefined();
  });

  test.each([getOf("p.q"), readOf("x://a"), completeOf("p.q")])(
    "to what another asked are refused: %j",
    async (operation) => {
      const { lib, call } = setUp();
      expect(await call({ ...operation, answers: answers("lib__t") })).toMatchObject({
        type: "error",
        error: {
          code: "InvalidArguments",
          message: `The answers belong to another request: ${operation.name} did not ask for them. Send it again without answers.`,
        },
      });
      expect(lib.asked.filter((one) => !one.startsWith("list"))).toEqual([]);
    },
  );

  test("to what another asked are refused by a result, for a tool", async () => {
    const { lib, call } = setUp();
    const outcome = await call({ ...callOf("t"), answers: answers("lib__p.q") });
    expect(resultOf(outcome)).toMatchObject({ isError: true, metadata: { code: "InvalidArguments" } });
    expect(lib.called).toEqual([]);
  });

  test("pass by who did not ask, where the search goes on", async () => {
    const [a, b] = [FakeProvider.unlisted("a", ["t"]), new FakeProvider("b", ["t"])];
    const item: Item = itemOf(a, "t", itemOf(b, "t"));
    const caller = createCaller({ resolver: { ...resolverOf(), resolve: () => item } });
    const operation = callOf("t");
    expect(
      ToolResult.text(resultOf(await caller.call({ ...operation, answers: answers("b__t") }, ctx))),
    ).toBe("b:t");
    expect(a.called).toEqual([]);
    expect(
      ToolResult.text(resultOf(await caller.call({ ...operation, answers: answers("a__t") }, ctx))),
    ).toBe("a:t");
  });

  test("to one tool are not those of a tool that it calls", async () => {
    const { lib, caller } = setUp();
    lib.tools = ["t", "inner"];
    const seen: [string, boolean][] = [];
    lib.answer = async (name, _args, given) => {
      seen.push([name, given.answers !== undefined]);
      if (name === "t") await caller.call(callOf("lib__inner"), given);
      return "done";
    };
    await caller.call({ ...callOf("lib__t"), answers: answers("lib__t") }, ctx);
    expect(seen).toEqual([
      ["t", true],
      ["inner", false],
    ]);
  });
});
