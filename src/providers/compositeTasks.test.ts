import { describe, expect, test } from "vitest";
import { FakeProvider } from "../../test/support/providers.ts";
import { FakeTasks, taskOf } from "../../test/support/tasks.ts";
import { ToolContext } from "../core/context.ts";
import { ToolError } from "../core/errors.ts";
import type { ToolProvider } from "../core/provider.ts";
import { CompositeToolProvider } from "./composite.ts";
import { taskProviderContract } from "./taskProvider.contract.ts";

const ctx = new ToolContext();

const compositeOf = (...providers: readonly ToolProvider[]): CompositeToolProvider => {
  const composite = new CompositeToolProvider({ namespace: "team" });
  for (const provider of providers) composite.add(provider);
  return composite;
};

taskProviderContract("A local provider", (local) => local);
taskProviderContract("CompositeToolProvider", (local) => compositeOf(new FakeTasks("near"), local), {
  tools: "far__",
  ids: "far__",
});
taskProviderContract(
  "CompositeToolProvider, two deep,",
  (local) => new CompositeToolProvider().add(compositeOf(local)).add(new FakeTasks("far")),
  { tools: "team__far__", ids: "team__far__" },
);

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no failure",
    (error: unknown) => error,
  );

describe("tasks", () => {
  test("of one id in two providers are two tasks", async () => {
    const [a, b] = [new FakeTasks("a"), new FakeTasks("b")];
    const { tasks } = compositeOf(a, b);
    for (const namespace of ["a", "b"])
      expect(await tasks.request("tasks/get", { taskId: `${namespace}__7` }, ctx)).toMatchObject({
        taskId: `${namespace}__7`,
        statusMessage: namespace,
      });
    await tasks.request("tasks/cancel", { taskId: "b__7" }, ctx);
    expect([a, b].map(({ asked }) => asked.map(([method]) => method))).toEqual([
      ["tasks/get"],
      ["tasks/get", "tasks/cancel"],
    ]);
  });

  test.each(["7", "c__7", "__7", "a7", "", "team__a__7", "fs__7"])(
    "are found by their namespace alone: %j is not there",
    async (taskId) => {
      const a = new FakeTasks("a");
      const composite = compositeOf(a, new FakeProvider("fs", ["job"]));
      expect(await composite.resolve(taskOf(taskId))).toBeUndefined();
      expect(await failure(composite.tasks.request("tasks/get", { taskId }, ctx))).toMatchObject({
        code: "NotFound",
        message: `Unknown task: ${taskId}`,
      });
      expect(a.asked).toEqual([]);
    },
  );

  test("are on no list: nothing is read to find them", async () => {
    const a = new FakeTasks("a");
    a.listFailure = new ToolError("Unavailable", "away");
    expect(await compositeOf(a).resolve(taskOf("a__7"))).toMatchObject({
      kind: "task",
      provider: a,
      name: "7",
      canonicalName: "a__7",
      definition: { taskId: "a__7" },
    });
    expect(a.lists).toBe(0);
  });

  test("that fail for another reason than that they are unknown say so", async () => {
    const broken = new ToolError("Unavailable", "away");
    const a = Object.assign(new FakeTasks("a"), { tasks: { request: () => Promise.reject(broken) } });
    expect(await failure(compositeOf(a).tasks.request("tasks/get", { taskId: "a__7" }, ctx))).toBe(broken);
  });
});

test("an answer of text that says it is raw stays text", async () => {
  const a = new FakeTasks("a");
  a.answer = () => "raw";
  expect(await compositeOf(a).callTool("a__job", {}, ctx)).toBe("raw");
});
