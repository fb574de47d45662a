import type { Middleware, Next } from "../core/operation.ts";

/** Folds a chain once, the first middleware outermost; per call there is one closure a layer. */
export function compose(middleware: readonly Middleware[], execute: Next): Next {
  return middleware.reduceRight<Next>((inner, layer) => wrap(layer, inner), execute);
}

function wrap(layer: Middleware, inner: Next): Next {
  if (!layer.call) return inner;
  return (operation, ctx) => {
    let called = false;
    return layer.call!(operation, ctx, (nextOperation, nextCtx) => {
      if (called) throw new Error(`Middleware "${layer.name}" called next() twice.`);
      called = true;
      if (nextOperation !== operation && Object.isFrozen(operation))
        throw new Error(
          `Middleware "${layer.name}" changed an operation that others have judged already. ` +
            `Arguments are rewritten before the "freeze" stage.`,
        );
      return inner(nextOperation, nextCtx);
    });
  };
}
