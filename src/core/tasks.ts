import { isObject, type JsonObject } from "./json.ts";
import { joinName } from "./names.ts";

/** The extension by which a call can go on after its answer. */
export const tasksExtension = "io.modelcontextprotocol/tasks";

export type TaskMethod = "tasks/get" | "tasks/update" | "tasks/cancel";

export function isTaskMethod(method: string): method is TaskMethod {
  return method === "tasks/get" || method === "tasks/update" || method === "tasks/cancel";
}

/** The id in a result that stands for a task, or tells of one. */
export function taskIdOf(value: unknown): string | undefined {
  const id = isObject(value) ? value["taskId"] : undefined;
  return typeof id === "string" ? id : undefined;
}

/** The same with the id that callers know: ids of two providers may be equal. */
export function exposeTask(value: JsonObject, namespace: string): JsonObject {
  const id = taskIdOf(value);
  return id === undefined ? value : { ...value, taskId: joinName(namespace, id) };
}
