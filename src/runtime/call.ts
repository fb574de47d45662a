import type { ToolContext } from "../core/context.ts";
import type { Log } from "../core/effects.ts";
import { describe, ToolError, toolErrorCodes } from "../core/errors.ts";
import type {
  Caller,
  Item,
  ItemKind,
  Middleware,
  Operation,
  Outcome,
  ResolvedOperation,
  Resolver,
} from "../core/operation.ts";
import { isInputRequired, ToolResult } from "../core/result.ts";
import { compose } from "./compose.ts";
import { askClient, executeWith, notFound } from "./execute.ts";

export interface CallerOptions {
  readonly resolver: Resolver;
  /** Outermost first. */
  readonly middleware?: readonly Middleware[];
  readonly log?: Log;
}

/** The one call path: resolve the name once, walk the chain, execute. Every door ends here. */
export function createCaller({ resolver, middleware = [], log = () => {} }: CallerOptions): Caller {
  const chain = compose(middleware, executeWith(compose(middleware, askClient)));
  const filters = middleware.filter((layer) => layer.visible);

  /** A filter that throws, or answers anything but `true`, hides: what cannot be judged is not shown. */
  const isVisible = (item: Item, ctx: ToolContext): boolean =>
    filters.every((filter) => {
      try {
        return filter.visible!(item, ctx) === true;
      } catch (error) {
        log("error", `${filter.name} could not judge ${item.canonicalName}, so it is hidden`, {
          error: describe(error),
        });
        return false;
      }
    });

  const failed = (error: unknown, operation: ResolvedOperation, ctx: ToolContext): Outcome => {
    const known = error instanceof ToolError ? error : unexpected(error, operation, ctx, log);
    // Only a tool's answer can say that it failed.
    if (toolErrorCodes[known.code].as === "error" || operation.kind !== "tools/call")
      return { type: "error", error: known };
    const result = ToolResult.withMetadata(ToolResult.error(known.message), { code: known.code });
    return { type: "result", result };
  };

  const attempt = async (operation: ResolvedOperation, ctx: ToolContext): Promise<Outcome> => {
    try {
      const result = await chain(operation, ctx);
      if (!isInputRequired(result)) return { type: "result", result };
      return { type: "input_required", canonicalName: operation.canonicalName, asked: result };
    } catch (error) {
      const outcome = failed(error, operation, ctx);
      const otherwise = operation.item?.otherwise;
      const goesOn = otherwise && outcome.type === "error" && outcome.error.code === "NotFound";
      return goesOn ? attempt(judge(operation, otherwise, ctx), ctx) : outcome;
    }
  };

  /** What is hidden is not there: as after a `NotFound`, the search goes on. */
  const judge = (operation: Operation, item: Item | undefined, ctx: ToolContext): ResolvedOperation => {
    let seen = item;
    while (seen && !isVisible(seen, ctx)) seen = seen.otherwise;
    // Written out: every call comes here, and a spread costs several times as much.
    const { kind, name, arguments: args, meta = {}, answers, subscriber } = operation;
    if (!seen) return { kind, name, arguments: args, meta, answers, subscriber, canonicalName: name };
    const { canonicalName } = seen;
    return { kind, name, arguments: args, meta, answers, subscriber, canonicalName, item: seen };
  };

  const unresolved = (error: unknown, operation: Operation): ResolvedOperation => {
    const failure = error instanceof ToolError ? error : notFound(operation);
    if (failure !== error) log("error", `cannot resolve ${operation.name}`, { error: describe(error) });
    return { ...operation, meta: operation.meta ?? {}, canonicalName: operation.name, failure };
  };

  const visible = async (kind: ItemKind, ctx: ToolContext): Promise<readonly Item[]> =>
    (await resolver.items(kind)).filter((item) => isVisible(item, ctx));

  return {
    items: visible,
    async list(ctx) {
      return (await visible("tool", ctx)).flatMap((item) => (item.kind === "tool" ? [item.definition] : []));
    },
    async find(operation, ctx) {
      try {
        return judge(operation, await resolver.resolve(operation), ctx).item;
      } catch {
        // Whoever calls it is told why.
        return undefined;
      }
    },
    async call(operation, ctx) {
      let resolved: ResolvedOperation;
      try {
        const found = resolver.resolve(operation);
        // Most names are known already: waiting would cost every call a turn.
        resolved = judge(operation, found instanceof Promise ? await found : found, ctx);
      } catch (error) {
        resolved = unresolved(error, operation);
      }
      return attempt(resolved, ctx);
    },
    watch: (listener) => resolver.watch(listener),
    info: () => resolver.info(),
  };
}

/** What a stranger's code threw may hold secrets: its message stays in the log, the caller gets a reference to it. */
function unexpected(error: unknown, operation: ResolvedOperation, ctx: ToolContext, log: Log): ToolError {
  if (ctx.cancellation.cancelled)
    return new ToolError("Cancelled", "The call was cancelled while it ran.", { cause: error });
  const reference = crypto.randomUUID().slice(0, 8);
  log("error", `${operation.canonicalName} failed unexpectedly`, { reference, error: describe(error) });
  return new ToolError(
    "ExecutionFailed",
    `${operation.name} failed unexpectedly. The log has the details under reference ${reference}.`,
    { cause: error },
  );
}
