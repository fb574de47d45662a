import { describe, expect, onTestFinished, test } from "vitest";
import { FakeTasks } from "../../test/support/tasks.ts";
import { ToolContext } from "../core/context.ts";
import { ToolError } from "../core/errors.ts";
import type { ToolProvider } from "../core/provider.ts";
import { tasksExtension } from "../core/tasks.ts";
import { infoOf } from "./info.ts";

/** Serves by the provider under test what a local one has. */
export type MakeTaskProvider = (local: FakeTasks) => ToolProvider | Promise<ToolProvider>;

/** What stands before the names of tools, and before the ids of tasks. */
export interface TaskPrefixes {
  readonly tools: string;
  readonly ids: string;
}

/** What every provider of tasks does. */
export function taskProviderContract(
  name: string,
  makeProvider: MakeTaskProvider,
  { tools, ids }: TaskPrefixes = { tools: "", ids: "" },
): void {
  const taskId = `${ids}7`;
  const ctx = new ToolContext({
    agentId: "me",
    clientCapabilities: { extensions: { [tasksExtension]: {} } },
  });

  async function setUp() {
    const local = new FakeTasks("far");
    const provider = await makeProvider(local);
    onTestFinished(async () => provider.close?.());
    return { local, provider, tasks: provider.tasks! };
  }

  describe(`${name} keeps the contract of a provider of tasks`, () => {
    test("a call may answer with a task, which is asked for by the id that it came with", async () => {
      const { provider, tasks } = await setUp();
      const started = await provider.callTool(`${tools}job`, {}, ctx);
      expect(started).toMatchObject({
        type: "raw",
        value: { resultType: "task", taskId, status: "working" },
      });
      expect(await tasks.request("tasks/get", { taskId }, ctx)).toMatchObject({
        taskId,
        status: "working",
        statusMessage: "far",
      });
    });

    test("answers and the wish to stop reach who has it, under its own id", async () => {
      const { local, tasks } = await setUp();
      const inputResponses = { a: { action: "accept", content: { b: "é 🙂" } } };
      expect(await tasks.request("tasks/update", { taskId, inputResponses }, ctx)).not.toHaveProperty(
        "taskId",
      );
      expect(await tasks.request("tasks/cancel", { taskId }, ctx)).not.toHaveProperty("taskId");
      expect(local.asked.map(([method, params]) => [method, params])).toMatchObject([
        ["tasks/update", { taskId: "7", inputResponses }],
        ["tasks/cancel", { taskId: "7" }],
      ]);
    });

    test.each(["8", "", "7 ", "far__7__", "__proto__"])("%j is not there: NotFound", async (wrong) => {
      const { tasks } = await setUp();
      for (const method of ["tasks/get", "tasks/update", "tasks/cancel"] as const) {
        const params = { taskId: ids + wrong, inputResponses: {} };
        const thrown = await tasks.request(method, params, ctx).catch((error: unknown) => error);
        expect(thrown).toBeInstanceOf(ToolError);
        expect(thrown).toMatchObject({ code: "NotFound" });
      }
    });

    test("it says that it has tasks", async () => {
      const { provider } = await setUp();
      expect((await infoOf(provider)).capabilities).toMatchObject({ extensions: { [tasksExtension]: {} } });
    });
  });
}
