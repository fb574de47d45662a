import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock, settle } from "../../test/support/fakeClock.ts";
import { FakeLibrary, readOf } from "../../test/support/library.ts";
import { resultOf } from "../../test/support/operation.ts";
import { callOf, deferred, FakeProvider } from "../../test/support/providers.ts";
import { ToolContext, type InputRequest } from "../core/context.ts";
import { ToolError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { Middleware, ResolvedOperation } from "../core/operation.ts";
import { ToolResult } from "../core/result.ts";
import { concurrency } from "../middleware/concurrency.ts";
import { freeze } from "../middleware/freeze.ts";
import { resultSize } from "../middleware/resultSize.ts";
import { timeout } from "../middleware/timeout.ts";
import { CompositeToolProvider } from "../providers/composite.ts";
import { createCaller } from "./call.ts";
import { hooks } from "./hooks.ts";

const question: InputRequest = { method: "elicitation/create", params: { message: "Sure?" } };

/** What the client was asked. */
let asked: InputRequest[];
let answer: (request: InputRequest) => Promise<JsonObject>;
beforeEach(() => {
  asked = [];
  answer = async () => ({ action: "accept" });
});

const client = new ToolContext({
  onAsk: (request) => {
    asked.push(request);
    return answer(request);
  },
});

/** A tool that asks once and says what it heard, be it an answer or a refusal. */
function asking(middleware: readonly Middleware[] = []) {
  const fs = new FakeProvider("fs", ["write"]);
  fs.answer = async (_name, _args, ctx) => {
    const heard = await ctx.ask(question).catch((error: unknown) => ({
      code: error instanceof ToolError ? error.code : "?",
      message: (error as Error).message,
    }));
    return ToolResult.structured(heard);
  };
  const caller = createCaller({ resolver: new CompositeToolProvider().add(fs), middleware });
  const call = async (ctx = client): Promise<unknown> =>
    resultOf(await caller.call(callOf("write", { path: "a" }), ctx)).structuredContent;
  return { fs, caller, call };
}

const guard = (call: NonNullable<Middleware["call"]>): Middleware => ({
  name: "guard",
  call: (operation, ctx, next) =>
    operation.kind === "tools/call" ? next(operation, ctx) : call(operation, ctx, next),
});

describe("what a tool asks of the client", () => {
  test("is answered by the client", async () => {
    expect(await asking().call()).toEqual({ action: "accept" });
    expect(asked).toEqual([question]);
  });

  test("passes every guard, under the name of who asks", async () => {
    const seen: ResolvedOperation[] = [];
    const watch: Middleware = {
      name: "watch",
      call: (operation, ctx, next) => {
        seen.push(operation);
        return next(operation, ctx);
      },
    };
    await asking([watch, freeze()]).call();
    expect(seen).toMatchObject([
      { kind: "tools/call", canonicalName: "fs__write" },
      {
        kind: "elicitation/create",
        name: "elicitation/create",
        canonicalName: "fs__elicitation/create",
        arguments: question.params,
        item: { canonicalName: "fs__write" },
      },
    ]);
    expect(seen.map((one) => Object.isFrozen(one))).toEqual([true, true]);
  });

  test("may be refused by a guard: the tool hears why, the client nothing", async () => {
    const refuse = guard(async ({ canonicalName }) => {
      throw new ToolError("PermissionDenied", `${canonicalName} is not allowed`);
    });
    expect(await asking([refuse]).call()).toEqual({
      code: "PermissionDenied",
      message: "fs__elicitation/create is not allowed",
    });
    expect(asked).toEqual([]);
  });

  test("may be rewritten, and answered, by a guard", async () => {
    const rewrite = guard((operation, ctx, next) =>
      next({ ...operation, arguments: { message: "fs asks: Sure?" } }, ctx),
    );
    await asking([rewrite, freeze()]).call();
    expect(asked).toEqual([{ method: "elicitation/create", params: { message: "fs asks: Sure?" } }]);
    const decline = guard(async () => ({ type: "raw", value: { action: "decline" } }));
    expect(await asking([decline]).call()).toEqual({ action: "decline" });
    expect(asked).toHaveLength(1);
  });

  test("cannot be answered by a guard with a tool's result", async () => {
    const odd = guard(async () => ToolResult.success("yes"));
    expect(await asking([odd]).call()).toMatchObject({
      code: "ExecutionFailed",
      message: "A guard answered elicitation/create with something that is no answer to it.",
    });
  });

  test("is refused where the door cannot ask", async () => {
    expect(await asking().call(new ToolContext())).toMatchObject({ code: "Unsupported" });
  });

  test("fails as the client fails", async () => {
    answer = () => Promise.reject(new ToolError("ClientRefused", "no user is there"));
    expect(await asking().call()).toEqual({ code: "ClientRefused", message: "no user is there" });
  });

  test("is no call for hooks", async () => {
    const seen: string[] = [];
    const watch = hooks({
      filterTools: () => true,
      beforeCall: ({ name }) => void seen.push(`before ${name}`),
      afterCall: ({ name }) => void seen.push(`after ${name}`),
    });
    await asking([watch]).call();
    expect(seen).toEqual(["before fs__write", "after fs__write"]);
  });

  test("takes no place from other calls", async () => {
    expect(await asking([concurrency({ running: 1, waiting: 0 })]).call()).toEqual({ action: "accept" });
  });

  test("stops the clock of its call, however long the client takes", async () => {
    const clock = new FakeClock();
    const reply = deferred<JsonObject>();
    answer = () => reply.promise;
    const { call } = asking([timeout({ clock, defaultMs: 1_000, maxMs: 2_000 })]);
    const ended = call();
    await settle();
    expect(asked).toHaveLength(1);
    await clock.pass(3_600_000);
    reply.resolve({ action: "cancel" });
    expect(await ended).toEqual({ action: "cancel" });
  });

  test("may be answered with no more than any result", async () => {
    answer = async () => ({ action: "accept", content: { text: "a".repeat(2_000) } });
    const { call } = asking([resultSize({ maxBytes: 1_000 })]);
    expect(await call()).toMatchObject({
      code: "ResultTooLarge",
      message: expect.stringMatching(/^The answer of elicitation\/create is 2\d\d\d bytes/),
    });
  });
});

test("a resource may ask as well", async () => {
  const lib = new FakeLibrary("lib", { resources: ["x://a"] });
  lib.reply = (_uri, _args, ctx) => ctx.ask({ method: "roots/list", params: {} });
  answer = async () => ({ roots: [] });
  const caller = createCaller({ resolver: new CompositeToolProvider().add(lib) });
  expect(await caller.call(readOf("x://a"), client)).toEqual({
    type: "result",
    result: { type: "raw", value: { roots: [] } },
  });
  expect(asked).toEqual([{ method: "roots/list", params: {} }]);
});

test("what a tool's tool asks passes the guards as its own, and then as the outer one's", async () => {
  const seen: string[] = [];
  const watch = guard((operation, ctx, next) => {
    seen.push(operation.canonicalName);
    return next(operation, ctx);
  });
  const outer = new FakeProvider("outer", ["run"]);
  const { fs } = asking();
  const resolver = new CompositeToolProvider().add(outer).add(fs);
  const caller = createCaller({ resolver, middleware: [watch] });
  outer.answer = async (_name, _args, ctx) => resultOf(await caller.call(callOf("fs__write"), ctx));
  expect(resultOf(await caller.call(callOf("outer__run"), client)).structuredContent).toEqual({
    action: "accept",
  });
  expect(seen).toEqual(["fs__elicitation/create", "outer__elicitation/create"]);
  expect(asked).toHaveLength(1);
});
