import type { Clock, Timer } from "../../src/core/effects.ts";

interface Pending {
  at: number;
  run(): void;
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  #now = 0;
  readonly #pending = new Set<Pending>();

  now(): number {
    return this.#now;
  }

  /** Timers that wait: what a test uses to prove that nothing leaks. */
  get waiting(): number {
    return this.#pending.size;
  }

  /** Milliseconds until the next timer is due. */
  get nextIn(): number | undefined {
    const next = [...this.#pending].map(({ at }) => at - this.#now).toSorted((a, b) => a - b);
    return next[0];
  }

  timer(fn: () => void, ms: number): Timer {
    const pending: Pending = {
      at: this.#now + ms,
      run: () => {
        this.#pending.delete(pending);
        fn();
      },
    };
    this.#pending.add(pending);
    return {
      restart: () => {
        pending.at = this.#now + ms;
        this.#pending.add(pending);
      },
      stop: () => void this.#pending.delete(pending),
    };
  }

  /** Moves on and runs what is due, in order. Between two timers, and at the end, promises get their turn. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (;;) {
      const due = [...this.#pending].filter((one) => one.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#now = Math.max(this.#now, due.at);
      due.run();
      await settle();
    }
    this.#now = end;
  }
}

/** Lets every promise that can go on do so, in memory. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
