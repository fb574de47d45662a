import { beforeEach, describe, expect, test, vi } from "vitest";
import { Cancellation } from "../core/cancellation.ts";
import { ToolContext, type Progress, type ToolContextInit } from "../core/context.ts";
import type { JsonObject } from "../core/json.ts";
import type { Next } from "../core/operation.ts";
import { ToolResult } from "../core/result.ts";
import { FakeClock } from "../../test/support/fakeClock.ts";
import {
  question as questionOf,
  resolvedOperation,
  toolResult,
  unresolvedOperation,
} from "../../test/support/operation.ts";
import { timeout, type TimeoutOptions } from "./timeout.ts";

const second = 1_000;
let clock: FakeClock;
beforeEach(() => {
  clock = new FakeClock();
});

interface Running {
  readonly ctx: ToolContext;
  readonly answer: Promise<ToolResult>;
  done(result: ToolResult): void;
  fail(error: Error): void;
}

/** A call whose tool settles when the test says so. */
function start(
  init: ToolContextInit = {},
  options: Partial<TimeoutOptions> = {},
  timeoutMs?: number,
): Running {
  let toolCtx: ToolContext | undefined;
  let done: Running["done"] = () => {};
  let fail: Running["fail"] = () => {};
  const next: Next = (_, ctx) => {
    toolCtx = ctx;
    return new Promise((resolve, reject) => {
      done = resolve;
      fail = reject;
    });
  };
  const operation = resolvedOperation({ facts: timeoutMs === undefined ? {} : { timeoutMs } });
  const answer = timeout({ clock, ...options }).call!(operation, new ToolContext(init), next).then(
    toolResult,
  );
  // A test that expects a rejection does so itself; until then it is not unhandled.
  answer.catch(() => {});
  return { ctx: toolCtx!, answer, done, fail };
}

/** Timers that are left in the end. One serves all calls: it may still be set, and does nothing when it fires. */
function leftBehind(): number {
  clock.advance(3_600 * second);
  return clock.pending;
}

/** Has it ended by now? */
async function hasEnded(answer: Promise<ToolResult>): Promise<boolean> {
  let ended = false;
  const mark = (): void => {
    ended = true;
  };
  answer.then(mark, mark);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  return ended;
}

test("an answer in time is passed on, and nothing is left behind", async () => {
  const cancellation = new Cancellation();
  const call = start({ cancellation });
  clock.advance(59 * second);
  call.done(ToolResult.success("done"));
  expect(ToolResult.text(await call.answer)).toBe("done");
  expect(leftBehind()).toBe(0);
  cancellation.cancel("later");
  expect(call.ctx.cancellation.cancelled).toBe(false);
});

test("a failure in time is passed on", async () => {
  const call = start();
  call.fail(new Error("broken"));
  await expect(call.answer).rejects.toThrow("broken");
  expect(leftBehind()).toBe(0);
});

test("a stage that throws instead of rejecting leaves nothing behind either", async () => {
  const answer = timeout({ clock }).call!(resolvedOperation(), new ToolContext(), () => {
    throw new Error("broken");
  });
  await expect(answer).rejects.toThrow("broken");
  expect(leftBehind()).toBe(0);
});

describe("when time is up", () => {
  test("the tool is aborted and the caller told at once, though the tool never settles", async () => {
    const call = start();
    const aborted = vi.fn<() => void>();
    call.ctx.signal.addEventListener("abort", aborted);
    clock.advance(60 * second);
    expect(aborted).toHaveBeenCalledTimes(1);
    await expect(call.answer).rejects.toMatchObject({
      code: "TimedOut",
      message:
        "files__read did not answer within 60 s. It was told to stop. Ask it for less, or raise the time-out.",
    });
    expect(call.ctx.signal.reason).toMatchObject({ code: "TimedOut" });
    expect(leftBehind()).toBe(0);
  });

  test.each(["done", "fail"] as const)("what the tool still does is not heard: %s", async (ending) => {
    const onProgress = vi.fn<(progress: Progress) => void>();
    const call = start({ onProgress });
    clock.advance(60 * second);
    if (ending === "done") call.done(ToolResult.success("late"));
    else call.fail(new Error("late"));
    await expect(call.answer).rejects.toMatchObject({ code: "TimedOut" });
    call.ctx.progress({ progress: 1 });
    expect(onProgress).not.toHaveBeenCalled();
    await expect(call.ctx.ask({ method: "roots/list", params: {} })).rejects.toMatchObject({
      code: "Cancelled",
    });
    expect(leftBehind()).toBe(0);
  });

  test("the caller's own cancellation is left alone", async () => {
    const cancellation = new Cancellation();
    const call = start({ cancellation });
    clock.advance(60 * second);
    await expect(call.answer).rejects.toMatchObject({ code: "TimedOut" });
    expect(cancellation.cancelled).toBe(false);
  });
});

test.each([
  [undefined, {}, 60],
  [undefined, { defaultMs: 1.5 * second }, 1.5],
  [5 * second, {}, 5],
  [3_600 * second, {}, 3_600],
])("a time-out of its own (%s) replaces the default (%j): %d s", async (timeoutMs, options, seconds) => {
  const call = start({}, options, timeoutMs);
  clock.advance(seconds * second - 1);
  expect(await hasEnded(call.answer)).toBe(false);
  clock.advance(1);
  await expect(call.answer).rejects.toThrow(`files__read did not answer within ${seconds} s.`);
});

test("a name that nothing has is timed as well", async () => {
  const answer = timeout({ clock }).call!(
    unresolvedOperation(),
    new ToolContext(),
    () => new Promise(() => {}),
  );
  clock.advance(60 * second);
  await expect(answer).rejects.toThrow("files__gone did not answer");
});

test("a question has no time-out of its own, and its context is its call's", async () => {
  const ctx = new ToolContext();
  const operation = questionOf();
  const next = vi.fn<Next>(async () => ({ type: "raw", value: {} }));
  expect(await timeout({ clock }).call!(operation, ctx, next)).toEqual({ type: "raw", value: {} });
  expect(next).toHaveBeenCalledExactlyOnceWith(operation, ctx);
  expect(clock.pending).toBe(0);
});

describe("progress", () => {
  test("starts the time anew and reaches the caller", async () => {
    const onProgress = vi.fn<(progress: Progress) => void>();
    const call = start({ onProgress });
    clock.advance(50 * second);
    call.ctx.progress({ progress: 1 });
    clock.advance(59 * second);
    expect(await hasEnded(call.answer)).toBe(false);
    expect(onProgress).toHaveBeenCalledExactlyOnceWith({ progress: 1 });
    clock.advance(1 * second);
    await expect(call.answer).rejects.toMatchObject({ code: "TimedOut" });
    expect(clock.now()).toBe(110 * second);
  });

  test("does not extend a call past the maximum", async () => {
    const call = start();
    for (let at = 0; at < 599; at++) {
      call.ctx.progress({ progress: at });
      clock.advance(1 * second);
    }
    expect(await hasEnded(call.answer)).toBe(false);
    clock.advance(1 * second);
    await expect(call.answer).rejects.toThrow(
      "files__read reported progress but did not finish in time: it may be silent for 60 s and take 600 s in all.",
    );
  });

  test("does not extend a call past its own time-out where that is longer than the maximum", async () => {
    const call = start({}, { maxMs: 10 * second }, 20 * second);
    clock.advance(15 * second);
    call.ctx.progress({ progress: 1 });
    clock.advance(4 * second);
    expect(await hasEnded(call.answer)).toBe(false);
    clock.advance(1 * second);
    await expect(call.answer).rejects.toMatchObject({ code: "TimedOut" });
  });
});

describe("while the tool asks the client", () => {
  function asking(): { init: ToolContextInit; answers: ((answer: JsonObject) => void)[] } {
    const answers: ((answer: JsonObject) => void)[] = [];
    return { init: { onAsk: () => new Promise((resolve) => answers.push(resolve)) }, answers };
  }
  const question = { method: "elicitation/create", params: {} } as const;

  test("the clock stands still, and goes on from where it stood", async () => {
    const { init, answers } = asking();
    const call = start(init);
    clock.advance(40 * second);
    const answer = call.ctx.ask(question);
    clock.advance(3_600 * second);
    answers[0]!({ action: "accept" });
    await expect(answer).resolves.toEqual({ action: "accept" });
    clock.advance(19 * second);
    expect(await hasEnded(call.answer)).toBe(false);
    clock.advance(1 * second);
    await expect(call.answer).rejects.toMatchObject({ code: "TimedOut" });
    expect(leftBehind()).toBe(0);
  });

  test("it goes on only when the last of several questions is answered", async () => {
    const { init, answers } = asking();
    const call = start(init);
    const both = [call.ctx.ask(question), call.ctx.ask(question)];
    answers[0]!({});
    await both[0];
    clock.advance(3_600 * second);
    expect(await hasEnded(call.answer)).toBe(false);
    answers[1]!({});
    await both[1];
    clock.advance(60 * second);
    await expect(call.answer).rejects.toMatchObject({ code: "TimedOut" });
  });

  test("a question that fails starts the clock as well", async () => {
    const call = start();
    await expect(call.ctx.ask(question)).rejects.toMatchObject({ code: "Unsupported" });
    clock.advance(60 * second);
    await expect(call.answer).rejects.toMatchObject({ code: "TimedOut" });
  });

  test("an answer that comes after the call ended starts nothing", async () => {
    const { init, answers } = asking();
    const call = start(init);
    const answer = call.ctx.ask(question);
    call.done(ToolResult.success("did not wait"));
    await call.answer;
    answers[0]!({});
    await answer;
    expect(leftBehind()).toBe(0);
  });
});

describe("when the caller cancels", () => {
  test("the tool is aborted and the call ends at once, though the tool never settles", async () => {
    const cancellation = new Cancellation();
    const call = start({ cancellation });
    cancellation.cancel("no longer wanted");
    expect(call.ctx.signal.aborted).toBe(true);
    expect(call.ctx.signal.reason).toBe("no longer wanted");
    await expect(call.answer).rejects.toMatchObject({
      code: "Cancelled",
      message: "The call of files__read was cancelled.",
    });
    expect(leftBehind()).toBe(0);
  });

  test("before the call, nothing runs", async () => {
    const cancellation = new Cancellation();
    cancellation.cancel("gone");
    const next = vi.fn<Next>();
    await expect(
      timeout({ clock }).call!(resolvedOperation(), new ToolContext({ cancellation }), next),
    ).rejects.toMatchObject({ code: "Cancelled" });
    expect(next).not.toHaveBeenCalled();
  });
});

test("a tool that does not look at the signal costs no AbortController", async () => {
  const controller = vi.spyOn(globalThis, "AbortController");
  const call = start();
  clock.advance(60 * second);
  await expect(call.answer).rejects.toMatchObject({ code: "TimedOut" });
  expect(controller).not.toHaveBeenCalled();
  controller.mockRestore();
});
