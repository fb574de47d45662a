import type { ToolContext } from "../../src/core/context.ts";
import { ToolError } from "../../src/core/errors.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { Operation } from "../../src/core/operation.ts";
import type { TaskProvider } from "../../src/core/provider.ts";
import type { RawResult } from "../../src/core/result.ts";
import type { TaskMethod } from "../../src/core/tasks.ts";
import { FakeProvider } from "./providers.ts";

/** A provider whose tool `job` answers with the task `7`, and that keeps what was asked of its tasks. */
export class FakeTasks extends FakeProvider {
  /** Method, params and the agent that asked. */
  readonly asked: [TaskMethod, JsonObject, string][] = [];
  readonly tasks: TaskProvider = {
    request: async (method, params, ctx) => this.#request(method, params, ctx),
  };

  constructor(namespace: string) {
    super(namespace, ["job"]);
    this.answer = () => created("7");
  }

  #request(method: TaskMethod, params: JsonObject, { agentId }: ToolContext): JsonObject {
    const { taskId } = params;
    if (taskId !== "7") throw new ToolError("NotFound", `${this.namespace} has no task ${String(taskId)}.`);
    this.asked.push([method, params, agentId]);
    return method === "tasks/get" ? { taskId, status: "working", statusMessage: this.namespace } : {};
  }
}

/** The answer to a call that goes on as that task. */
export function created(taskId: string): RawResult {
  return { type: "raw", value: { resultType: "task", taskId, status: "working" } };
}

export const taskOf = (id: string, kind: TaskMethod = "tasks/get", params: JsonObject = {}): Operation => ({
  kind,
  name: id,
  arguments: { taskId: id, ...params },
});
