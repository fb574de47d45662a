import { describe, expect, test } from "vitest";
import { exposeTask, isTaskMethod, taskIdOf } from "./tasks.ts";

test.each([
  ["tasks/get", true],
  ["tasks/update", true],
  ["tasks/cancel", true],
  // These two are of the tasks of 2025-11-25, which are something else.
  ["tasks/list", false],
  ["tasks/result", false],
  ["tasks/", false],
  ["tools/call", false],
])("%s is a method of the extension: %j", (method, expected) => {
  expect(isTaskMethod(method)).toBe(expected);
});

test.each([
  [{ taskId: "7" }, "7"],
  [{ taskId: "" }, ""],
  [{ taskId: 7 }, undefined],
  [{ task: { taskId: "7" } }, undefined],
  [["taskId"], undefined],
  ["taskId", undefined],
  [null, undefined],
])("%j tells of task %j", (value, id) => {
  expect(taskIdOf(value)).toBe(id);
});

describe("where callers see it", () => {
  test("a task has the namespace before its id, and is else as it was", () => {
    const told = { resultType: "task", taskId: "7", ttlMs: null, result: { taskId: "7" } };
    expect(exposeTask(told, "a")).toEqual({ ...told, taskId: "a__7" });
    expect(told.taskId).toBe("7");
    expect(exposeTask(exposeTask(told, "a"), "team")).toMatchObject({ taskId: "team__a__7" });
  });

  test.each([{}, { taskId: 7 }, { contents: [] }])("what is no task stays what it is: %j", (value) => {
    expect(exposeTask(value, "a")).toBe(value);
  });
});
