import { describe, expect, test } from "vitest";
import { question, unresolvedOperation } from "../../test/support/operation.ts";
import { callOf } from "../../test/support/providers.ts";
import { created, FakeTasks, taskOf } from "../../test/support/tasks.ts";
import { ToolContext } from "../core/context.ts";
import type { Caller, Outcome } from "../core/operation.ts";
import type { TaskMethod } from "../core/tasks.ts";
import { CompositeToolProvider } from "../providers/composite.ts";
import { createCaller } from "../runtime/call.ts";
import { taskOwners, type TaskOwnersOptions } from "./taskOwners.ts";

const ada = new ToolContext({ principal: { id: "ada" } });
const eve = new ToolContext({ principal: { id: "eve" } });
const methods: TaskMethod[] = ["tasks/get", "tasks/update", "tasks/cancel"];

function setUp(options?: TaskOwnersOptions) {
  const a = new FakeTasks("a");
  const resolver = new CompositeToolProvider().add(a).add(new FakeTasks("b"));
  return { a, caller: createCaller({ resolver, middleware: [taskOwners(options)] }) };
}

const start = (caller: Caller, ctx: ToolContext, tool = "a__job"): Promise<Outcome> =>
  caller.call(callOf(tool), ctx);

const unknown = (id: string) => ({
  type: "error",
  error: { code: "NotFound", message: `Unknown task: ${id}` },
});

describe("a task", () => {
  test.each(methods)("is its creator's: %s", async (method) => {
    const { a, caller } = setUp();
    await start(caller, ada);
    expect(await caller.call(taskOf("a__7", method), ada)).toMatchObject({ type: "result" });
    expect(a.asked).toMatchObject([[method, { taskId: "7" }, ""]]);
  });

  test.each(methods)("of somebody else is not there, and its provider hears nothing: %s", async (method) => {
    const { a, caller } = setUp();
    await start(caller, ada);
    await start(caller, eve, "b__job");
    expect(await caller.call(taskOf("a__7", method), eve)).toMatchObject(unknown("a__7"));
    expect(a.asked).toEqual([]);
  });

  test("that nobody has started here is not there, though its provider knows it", async () => {
    const { a, caller } = setUp();
    for (const id of ["a__7", "7", "c__7"])
      expect(await caller.call(taskOf(id), ada)).toMatchObject(unknown(id));
    expect(a.asked).toEqual([]);
  });

  test("that a provider gives to another one is that one's", async () => {
    const { caller } = setUp();
    await start(caller, ada);
    await start(caller, eve);
    expect(await caller.call(taskOf("a__7"), ada)).toMatchObject(unknown("a__7"));
    expect(await caller.call(taskOf("a__7"), eve)).toMatchObject({ type: "result" });
  });
});

test("the oldest tasks are forgotten, and no more of them than has to be", async () => {
  const { a, caller } = setUp({ max: 2 });
  for (const id of ["1", "7", "2"]) {
    a.answer = () => created(id);
    await start(caller, ada);
  }
  expect(await caller.call(taskOf("a__1"), ada)).toMatchObject(unknown("a__1"));
  expect(await caller.call(taskOf("a__7"), ada)).toMatchObject({ type: "result" });
  a.answer = () => created("3");
  await start(caller, ada);
  expect(await caller.call(taskOf("a__7"), ada)).toMatchObject(unknown("a__7"));
});

test("tasks of one principal do not make those of another be forgotten", async () => {
  const { a, caller } = setUp({ max: 2 });
  await start(caller, ada);
  for (const id of ["1", "2", "3", "1"]) {
    a.answer = () => created(id);
    await start(caller, eve);
  }
  expect(await caller.call(taskOf("a__7"), ada)).toMatchObject({ type: "result" });
  expect(await caller.call(taskOf("a__2"), eve)).toMatchObject(unknown("a__2"));
});

test("one with an endless id is not remembered", async () => {
  const { a, caller } = setUp();
  const id = "7".repeat(1_001);
  a.answer = () => created(id);
  expect(await start(caller, ada)).toMatchObject({ type: "result" });
  expect(await caller.call(taskOf(`a__${id}`), ada)).toMatchObject(unknown(`a__${id}`));
  expect(a.asked).toEqual([]);
});

describe("what starts no task", () => {
  test.each([
    ["a text", "a__7"],
    ["another result", { type: "raw" as const, value: { resultType: "other" } }],
    ["a tool's result that names one", { content: [], extra: { taskId: "a__7" } }],
  ])("makes nobody an owner: %s", async (_, answer) => {
    const { a, caller } = setUp();
    a.answer = () => answer;
    expect(await start(caller, ada)).toMatchObject({ type: "result" });
    expect(await caller.call(taskOf("a__7"), ada)).toMatchObject(unknown("a__7"));
  });

  test("passes unchanged, whoever asks", async () => {
    const result = created("7");
    const { call } = taskOwners();
    expect(await call!(question(), ada, async () => result)).toBe(result);
    expect(await call!(unresolvedOperation(), ada, async () => result)).toBe(result);
  });
});

test("an answer of the client's makes nobody an owner either", async () => {
  const { a, caller } = setUp();
  a.answer = async (_name, _args, ctx) => {
    await ctx.ask({ method: "roots/list", params: {} });
    return "done";
  };
  await start(caller, ada.with({ onAsk: async () => ({ taskId: "a__7" }) }));
  expect(await caller.call(taskOf("a__7"), ada)).toMatchObject(unknown("a__7"));
});
