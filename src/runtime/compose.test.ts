import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { resolvedOperation, toolResult } from "../../test/support/operation.ts";
import { ToolContext } from "../core/context.ts";
import { ToolError } from "../core/errors.ts";
import type { Middleware, Next } from "../core/operation.ts";
import { ToolResult } from "../core/result.ts";
import { compose } from "./compose.ts";

const ctx = new ToolContext();
const operation = resolvedOperation({ arguments: { a: 1 } });
const done: Next = async () => ToolResult.success("done");

const layer = (name: string, call: NonNullable<Middleware["call"]>): Middleware => ({ name, call });

describe("compose", () => {
  test("the last layer in is the first out, for any number of layers; those without `call` are not there", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 40 }), async (wraps) => {
        const trace: string[] = [];
        const layers = wraps.map((wraps, at): Middleware => {
          if (!wraps) return { name: `${at}`, visible: () => true };
          return layer(`${at}`, async (operation, ctx, next) => {
            trace.push(`in ${at}`);
            const result = await next(operation, ctx);
            trace.push(`out ${at}`);
            return result;
          });
        });
        const chain = compose(layers, async (operation, ctx) => {
          trace.push("execute");
          return done(operation, ctx);
        });
        expect(await chain(operation, ctx)).toEqual(ToolResult.success("done"));
        const there = wraps.flatMap((wraps, at) => (wraps ? [at] : []));
        expect(trace).toEqual([
          ...there.map((at) => `in ${at}`),
          "execute",
          ...there.toReversed().map((at) => `out ${at}`),
        ]);
      }),
    );
  });

  test("without a layer it is what it ends in", () => {
    expect(compose([], done)).toBe(done);
    expect(compose([{ name: "filter", visible: () => false }], done)).toBe(done);
  });

  test("operation and context reach the end as the layers hand them on", async () => {
    const other = ctx.withMetadata({ seen: true });
    const rewrite = layer("rewrite", (operation, _ctx, next) =>
      next({ ...operation, arguments: { a: 2 } }, other),
    );
    const chain = compose([rewrite], async (operation, ctx) =>
      ToolResult.structured([operation.arguments, ctx.metadata]),
    );
    expect(toolResult(await chain(operation, ctx)).structuredContent).toEqual([{ a: 2 }, { seen: true }]);
  });

  test("a layer may answer by itself: what is further in does not run", async () => {
    const chain = compose([layer("cache", async () => ToolResult.success("kept"))], () => {
      throw new Error("not reached");
    });
    expect(await chain(operation, ctx)).toEqual(ToolResult.success("kept"));
  });

  test("an error passes every layer on its way out", async () => {
    const seen: unknown[] = [];
    const watcher = layer("watcher", async (operation, ctx, next) => {
      try {
        return await next(operation, ctx);
      } catch (error) {
        seen.push(error);
        throw error;
      }
    });
    const refusal = new ToolError("PermissionDenied", "no");
    const chain = compose([watcher, watcher], async () => Promise.reject(refusal));
    await expect(chain(operation, ctx)).rejects.toBe(refusal);
    expect(seen).toEqual([refusal, refusal]);
  });

  test("a second next() throws and names the layer; nothing runs twice", async () => {
    let runs = 0;
    const twice = layer("impatient", async (operation, ctx, next) => {
      await next(operation, ctx);
      return next(operation, ctx);
    });
    const chain = compose([twice], async (operation, ctx) => {
      runs += 1;
      return done(operation, ctx);
    });
    await expect(chain(operation, ctx)).rejects.toThrow('Middleware "impatient" called next() twice.');
    expect(runs).toBe(1);
  });

  test("next() may be called once in each of many calls of one chain", async () => {
    const chain = compose([layer("plain", (operation, ctx, next) => next(operation, ctx))], done);
    const results = await Promise.all([1, 2, 3].map(() => chain(operation, ctx)));
    expect(results).toHaveLength(3);
  });

  test("a frozen operation cannot be exchanged, whatever the layer; the same one passes", async () => {
    const frozen = Object.freeze(resolvedOperation());
    const sneak = layer("sneak", (operation, ctx, next) => next({ ...operation, arguments: { b: 1 } }, ctx));
    let ran = false;
    const end: Next = async (operation, ctx) => {
      ran = true;
      return done(operation, ctx);
    };
    await expect(async () => compose([sneak], end)(frozen, ctx)).rejects.toThrow(
      /^Middleware "sneak" changed an operation that others have judged already/,
    );
    expect(ran).toBe(false);
    const honest = layer("honest", (operation, ctx, next) => next(operation, ctx.withMetadata({ a: 1 })));
    await compose([honest], end)(frozen, ctx);
    expect(ran).toBe(true);
  });

  test("a layer that freezes holds for those behind it and not for those before", async () => {
    const rewrite = layer("rewrite", (operation, ctx, next) =>
      next({ ...operation, arguments: { c: 1 } }, ctx),
    );
    const freeze = layer("freeze", (operation, ctx, next) => next(Object.freeze({ ...operation }), ctx));
    await expect(compose([rewrite, freeze], done)(operation, ctx)).resolves.toBeDefined();
    await expect(async () => compose([freeze, rewrite], done)(operation, ctx)).rejects.toThrow('"rewrite"');
  });
});
