import type { Clock, Timer } from "../core/effects.ts";

/** A list that is said to change all the time is read once a pause, in milliseconds. */
const pauseMs = 1_000;

/**
 * Runs `read` whenever `changed` was called, at once where it can: never two at a time, and not again before
 * a pause is over, however often it is called.
 */
export class Rereader {
  readonly #clock: Clock;
  readonly #read: () => Promise<void>;
  #stale = false;
  #busy = false;
  #timer: Timer | undefined;
  #closed = false;

  /** `read` must not reject. */
  constructor(clock: Clock, read: () => Promise<void>) {
    this.#clock = clock;
    this.#read = read;
  }

  changed(): void {
    this.#stale = true;
    if (!this.#busy) void this.#run();
  }

  close(): void {
    this.#closed = true;
    this.#timer?.stop();
  }

  async #run(): Promise<void> {
    this.#stale = false;
    this.#busy = true;
    await this.#read();
    if (this.#closed) return;
    this.#timer = this.#clock.timer(() => {
      this.#busy = false;
      if (this.#stale) void this.#run();
    }, pauseMs);
  }
}
