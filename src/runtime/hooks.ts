import type { ToolContext } from "../core/context.ts";
import type { JsonObject } from "../core/json.ts";
import type { Middleware } from "../core/operation.ts";
import { isToolResult, type ToolResult } from "../core/result.ts";
import type { ToolDefinition } from "../core/tool.ts";

/** What hooks see of a call: the canonical name, however the caller wrote it. */
export interface HookCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

export interface Hooks {
  /** Judges one tool at a time, like the callback of `Array.prototype.filter`. Pure: it holds for lists and for calls. */
  filterTools?(tool: ToolDefinition, ctx: ToolContext): boolean;
  /** May return other arguments. Throw a `ToolError` (`PermissionDenied`, ...) to refuse; its message reaches the caller. */
  beforeCall?(call: HookCall, ctx: ToolContext): JsonObject | void | Promise<JsonObject | void>;
  /** May return another result. Not called when the call failed. */
  afterCall?(
    call: HookCall,
    result: ToolResult,
    ctx: ToolContext,
  ): ToolResult | void | Promise<ToolResult | void>;
}

/** Makes a middleware of up to three hooks, which see tools and their calls only. Several of them unwind: the last to see the call is the first to see the result. */
export function hooks(hooks: Hooks, name = "hooks"): Middleware {
  return {
    name,
    ...(hooks.filterTools && {
      visible: (item, ctx) => item.kind !== "tool" || hooks.filterTools!(item.definition, ctx),
    }),
    async call(operation, ctx, next) {
      if (!operation.item || operation.kind !== "tools/call") return next(operation, ctx);
      const before = { name: operation.canonicalName, arguments: operation.arguments };
      const changed = await hooks.beforeCall?.(before, ctx);
      const call = changed ? { ...before, arguments: changed } : before;
      const result = await next(changed ? { ...operation, arguments: changed } : operation, ctx);
      if (!isToolResult(result)) return result;
      return (await hooks.afterCall?.(call, result, ctx)) ?? result;
    },
  };
}
