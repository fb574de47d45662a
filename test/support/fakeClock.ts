import type { Clock, Timer } from "../../src/core/effects.ts";

interface Due {
  at: number;
  fn: () => void;
}

/** Time that passes only when `advance` says so. */
export class FakeClock implements Clock {
  #now = 0;
  readonly #running = new Map<Timer, Due>();

  now(): number {
    return this.#now;
  }

  timer(fn: () => void, ms: number): Timer {
    const timer: Timer = {
      restart: () => {
        this.#running.delete(timer);
        this.#running.set(timer, { at: this.#now + Math.max(0, ms), fn });
      },
      stop: () => {
        this.#running.delete(timer);
      },
    };
    timer.restart();
    return timer;
  }

  /** How many timers have not fired or been stopped: nothing may be left behind. */
  get pending(): number {
    return this.#running.size;
  }

  /** Milliseconds until the next timer fires. */
  get nextIn(): number | undefined {
    const moments = Array.from(this.#running.values(), ({ at }) => at - this.#now);
    return moments.length === 0 ? undefined : Math.min(...moments);
  }

  /** Lets `ms` pass and runs what is due on the way, the earliest first, each at its own moment. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#next(end); next; next = this.#next(end)) {
      const [timer, { at, fn }] = next;
      this.#running.delete(timer);
      this.#now = at;
      fn();
    }
    this.#now = end;
  }

  /** As `advance`; before, between and after the timers every promise that can go on does. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (let next = this.nextIn; next !== undefined && this.#now + next <= end; next = this.nextIn) {
      this.advance(next);
      await settle();
    }
    this.advance(end - this.#now);
  }

  #next(end: number): [Timer, Due] | undefined {
    let first: [Timer, Due] | undefined;
    for (const entry of this.#running) {
      if (entry[1].at <= end && (!first || entry[1].at < first[1].at)) first = entry;
    }
    return first;
  }
}

/** Lets every promise that can go on do so, in memory. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
