import type { Cancellation } from "../core/cancellation.ts";
import { ToolError } from "../core/errors.ts";

interface Lane {
  running: number;
  /** While anything waits, all places are taken. */
  waiting?: Set<() => void>;
}

/** Places for each key: some run, some wait in the order in which they came, the rest is refused. */
export class Lanes {
  readonly #limits: { running: number; waiting: number };
  readonly #lanes = new Map<string, Lane>();

  constructor(limits: { running: number; waiting: number }) {
    this.#limits = limits;
  }

  /** Keys that hold a place: one that holds none takes no memory. */
  get size(): number {
    return this.#lanes.size;
  }

  /**
   * Takes a place, or promises one. Throws `ToolError` `TooManyRequests` where none may wait; the promise
   * rejects with `Cancelled`. Whoever got a place gives it back by `leave`.
   */
  enter(key: string, cancellation: Cancellation): void | Promise<void> {
    let lane = this.#lanes.get(key);
    if (!lane) this.#lanes.set(key, (lane = { running: 0 }));
    if (lane.running < this.#limits.running) {
      lane.running++;
      return;
    }
    lane.waiting ??= new Set();
    if (lane.waiting.size >= this.#limits.waiting)
      throw new ToolError("TooManyRequests", "Too many requests in flight");
    return wait(lane.waiting, cancellation);
  }

  /** Gives the place to who has waited longest, or back. */
  leave(key: string): void {
    const lane = this.#lanes.get(key)!;
    const [enter] = lane.waiting ?? [];
    if (enter) {
      lane.waiting?.delete(enter);
      enter();
    } else if (--lane.running === 0) this.#lanes.delete(key);
  }
}

function wait(waiting: Set<() => void>, cancellation: Cancellation): Promise<void> {
  return new Promise((resolve, reject) => {
    const enter = (): void => {
      stopListening();
      resolve();
    };
    waiting.add(enter);
    const stopListening = cancellation.onCancel(() => {
      waiting.delete(enter);
      reject(new ToolError("Cancelled", "The call was cancelled while it waited for its turn."));
    });
  });
}
