import type { Middleware } from "../core/operation.ts";

/** From here on the arguments are final: a later stage that passes on another operation is refused. */
export function freeze(): Middleware {
  return { name: "freeze", call: (operation, ctx, next) => next(Object.freeze(operation), ctx) };
}
