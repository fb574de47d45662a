import { Bag, type BagMember } from "../core/bag.ts";
import type { Clock, Timer } from "../core/effects.ts";

export interface Due extends BagMember {
  /** A moment of the clock. It may move while it waits, but only to a later one; `Infinity` stands for never. */
  readonly deadline: number;
  /** Called once, when the deadline has passed. */
  expire(): void;
}

/**
 * Many deadlines on one timer. Every call has a deadline and almost none is reached, so taking part costs an entry
 * in a bag; a timer of its own for each would cost more than the rest of a short call.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #waiting = new Bag<Due>();
  #timer: Timer | undefined;
  /** When the timer fires. It may be early for what waits then: it looks, and goes on. */
  #firesAt = Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Also for one that has been `Infinity` and is not any more. */
  add(due: Due): void {
    if (!this.#waiting.has(due)) this.#waiting.add(due);
    this.#arm(due.deadline);
  }

  delete(due: Due): void {
    this.#waiting.delete(due);
  }

  #arm(at: number): void {
    if (at >= this.#firesAt) return;
    this.#timer?.stop();
    this.#firesAt = at;
    this.#timer = this.#clock.timer(() => this.#look(), at - this.#clock.now());
  }

  #look(): void {
    this.#firesAt = Infinity;
    const now = this.#clock.now();
    let next = Infinity;
    for (const due of this.#waiting.members()) {
      if (due.deadline > now) next = Math.min(next, due.deadline);
      else {
        this.#waiting.delete(due);
        due.expire();
      }
    }
    this.#arm(next);
  }
}
