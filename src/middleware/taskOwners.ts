import { ToolError } from "../core/errors.ts";
import type { Middleware } from "../core/operation.ts";
import { isTaskMethod, taskIdOf } from "../core/tasks.ts";

export interface TaskOwnersOptions {
  /** Tasks of one principal that are remembered; of more than that its oldest are forgotten. Default 10,000. */
  readonly max?: number;
}

/** A task with a longer id cannot be asked for: ids are kept for long. */
const maxIdLength = 1_000;

/**
 * A task is its creator's alone: towards the provider all callers are one. To anybody else it is not there, and
 * after a restart it is nobody's.
 */
export function taskOwners({ max = 10_000 }: TaskOwnersOptions = {}): Middleware {
  const owners = new Map<string, string>();
  /** In the order in which they came. */
  const tasks = new Map<string, Set<string>>();
  const forget = (id: string): void => {
    const owner = owners.get(id);
    owners.delete(id);
    if (owner !== undefined) tasks.get(owner)?.delete(id);
  };
  const remember = (id: string, owner: string): void => {
    forget(id);
    const own = tasks.get(owner) ?? new Set();
    const [oldest] = own;
    if (own.size >= max && oldest !== undefined) forget(oldest);
    tasks.set(owner, own.add(id));
    owners.set(id, owner);
  };
  return {
    name: "taskOwners",
    async call(operation, ctx, next) {
      const { kind, name } = operation;
      if (isTaskMethod(kind) && owners.get(operation.canonicalName) !== ctx.principal.id)
        throw new ToolError("NotFound", `Unknown task: ${name}`);
      const result = await next(operation, ctx);
      if (kind !== "tools/call" || !("type" in result) || result.type !== "raw") return result;
      const id = taskIdOf(result.value);
      if (id === undefined || id.length > maxIdLength) return result;
      remember(id, ctx.principal.id);
      return result;
    },
  };
}
