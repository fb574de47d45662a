import type { Cancellation } from "../core/cancellation.ts";
import type { InputRequest, Progress, ToolContext } from "../core/context.ts";
import type { Clock } from "../core/effects.ts";
import { ToolError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { isQuestion, type Middleware, type Next, type ResolvedOperation } from "../core/operation.ts";
import type { OperationResult } from "../core/result.ts";
import { Deadlines, type Due } from "./deadlines.ts";

export interface TimeoutOptions {
  readonly clock: Clock;
  /** Milliseconds without an answer or progress; a tool's own `timeoutMs` replaces it. Default 60,000. */
  readonly defaultMs?: number;
  /** Milliseconds that progress can extend a call to, or the tool's own `timeoutMs` if that is longer. Default 600,000. */
  readonly maxMs?: number;
}

/**
 * Bounds each call in time. Progress starts the time anew, within `maxMs`; while the tool asks the client the
 * clock stands still. When time is up, or the caller cancels, the tool's signal is aborted and the caller gets
 * `ToolError` `TimedOut` or `Cancelled` at once, whether the tool settles or not.
 */
export function timeout({ clock, defaultMs = 60_000, maxMs = 600_000 }: TimeoutOptions): Middleware {
  const deadlines = new Deadlines(clock);
  return {
    name: "timeout",
    async call(operation, ctx, next) {
      // A question pauses the clock of the call that asks it; how long a person may think is the door's business.
      if (isQuestion(operation)) return next(operation, ctx);
      if (ctx.cancellation.cancelled) throw cancelled(operation);
      const idleMs = operation.item?.facts.timeoutMs ?? defaultMs;
      const limits = { idleMs, totalMs: Math.max(maxMs, idleMs) };
      return new TimedCall(operation, ctx, { clock, deadlines, limits }).run(next);
    },
  };
}

interface Limits {
  readonly idleMs: number;
  readonly totalMs: number;
}

interface Timing {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly limits: Limits;
}

class TimedCall implements Due {
  bagIndex = -1;
  readonly #operation: ResolvedOperation;
  readonly #ctx: ToolContext;
  readonly #timing: Timing;
  readonly #cancellation: Cancellation;
  /** Moments of the clock; a pause moves them on by its length. */
  #startedAt: number;
  #heardAt: number;
  #pausedAt = 0;
  #questions = 0;
  #settled = false;
  #reject: (error: ToolError) => void = () => {};

  constructor(operation: ResolvedOperation, ctx: ToolContext, timing: Timing) {
    this.#operation = operation;
    this.#ctx = ctx;
    this.#timing = timing;
    this.#cancellation = ctx.cancellation.child();
    this.#startedAt = this.#heardAt = timing.clock.now();
  }

  /** Progress moves it on; while a question is open there is none. */
  get deadline(): number {
    if (this.#questions > 0) return Infinity;
    const { idleMs, totalMs } = this.#timing.limits;
    return Math.min(this.#heardAt + idleMs, this.#startedAt + totalMs);
  }

  expire(): void {
    const error = timedOut(this.#operation, this.#timing.limits, this.#heardAt > this.#startedAt);
    this.#reject(error);
    this.#cancellation.cancel(error);
  }

  async run(next: Next): Promise<OperationResult> {
    const ctx = this.#ctx.with({
      cancellation: this.#cancellation,
      onProgress: (progress) => this.#progress(progress),
      onAsk: (request) => this.#ask(request),
    });
    try {
      return await new Promise((resolve, reject) => {
        this.#reject = reject;
        this.#cancellation.onCancel(() => reject(cancelled(this.#operation)));
        this.#timing.deadlines.add(this);
        next(this.#operation, ctx).then(resolve, reject);
      });
    } finally {
      this.#settled = true;
      this.#timing.deadlines.delete(this);
      this.#cancellation.release();
    }
  }

  #progress(progress: Progress): void {
    if (this.#settled) return;
    if (this.#questions === 0) this.#heardAt = this.#timing.clock.now();
    this.#ctx.progress(progress);
  }

  async #ask(request: InputRequest): Promise<JsonObject> {
    if (this.#settled) throw cancelled(this.#operation);
    if (this.#questions++ === 0) this.#pausedAt = this.#timing.clock.now();
    try {
      return await this.#ctx.ask(request);
    } finally {
      if (--this.#questions === 0 && !this.#settled) this.#resume();
    }
  }

  #resume(): void {
    const paused = this.#timing.clock.now() - this.#pausedAt;
    this.#startedAt += paused;
    this.#heardAt += paused;
    this.#timing.deadlines.add(this);
  }
}

function timedOut({ name }: ResolvedOperation, limits: Limits, progressed: boolean): ToolError {
  const what = progressed
    ? `${name} reported progress but did not finish in time: it may be silent for ` +
      `${seconds(limits.idleMs)} and take ${seconds(limits.totalMs)} in all.`
    : `${name} did not answer within ${seconds(limits.idleMs)}.`;
  return new ToolError("TimedOut", `${what} It was told to stop. Ask it for less, or raise the time-out.`);
}

function cancelled({ name }: ResolvedOperation): ToolError {
  return new ToolError("Cancelled", `The call of ${name} was cancelled.`);
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
