import { ToolError } from "../core/errors.ts";
import type { Middleware } from "../core/operation.ts";
import { isTaskMethod, taskIdOf } from "../core/tasks.ts";

export interface TaskOwnersOptions {
  /** Tasks whose owner is remembered; of more than that the oldest are forgotten. Default 10,000. */
  readonly max?: number;
}

/**
 * A task is its creator's alone: towards the provider all callers are one. To anybody else it is not there, and
 * after a restart it is nobody's.
 */
export function taskOwners({ max = 10_000 }: TaskOwnersOptions = {}): Middleware {
  const owners = new Map<string, string>();
  return {
    name: "taskOwners",
    async call(operation, ctx, next) {
      const { kind, name } = operation;
      if (isTaskMethod(kind) && owners.get(operation.canonicalName) !== ctx.principal.id)
        throw new ToolError("NotFound", `Unknown task: ${name}`);
      const result = await next(operation, ctx);
      if (kind !== "tools/call" || !("type" in result) || result.type !== "raw") return result;
      const id = taskIdOf(result.value);
      if (id === undefined) return result;
      owners.set(id, ctx.principal.id);
      const [oldest] = owners.keys();
      if (owners.size > max && oldest !== undefined) owners.delete(oldest);
      return result;
    },
  };
}
