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

  #next(end: number): [Timer, Due] | undefined {
    let first: [Timer, Due] | undefined;
    for (const entry of this.#running) {
      if (entry[1].at <= end && (!first || entry[1].at < first[1].at)) first = entry;
    }
    return first;
  }
}
