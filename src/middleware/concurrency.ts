import { isQuestion, type Middleware } from "../core/operation.ts";
import { Lanes } from "./lanes.ts";

export interface ConcurrencyOptions {
  /** Calls of one principal that may run at once. Default 256. */
  readonly running?: number;
  /** Calls of one principal that may wait for their turn. Default 4,096. */
  readonly waiting?: number;
}

/**
 * Bounds the calls in flight of each principal. The excess waits its turn, first come, first served; what
 * cannot wait either is refused with `ToolError` `TooManyRequests`. A call cancelled while it waits leaves at once.
 */
export function concurrency({ running = 256, waiting = 4096 }: ConcurrencyOptions = {}): Middleware {
  const lanes = new Lanes({ running, waiting });
  return {
    name: "concurrency",
    async call(operation, ctx, next) {
      // Its call has a place already.
      if (isQuestion(operation)) return next(operation, ctx);
      const { id } = ctx.principal;
      const turn = lanes.enter(id, ctx.cancellation);
      if (turn) await turn;
      try {
        return await next(operation, ctx);
      } finally {
        lanes.leave(id);
      }
    },
  };
}
