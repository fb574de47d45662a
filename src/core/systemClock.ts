import type { Clock, Timer } from "./effects.ts";

/** The longest span that timers count; a longer one would fire at once. About 24.8 days. */
const longestMs = 2 ** 31 - 1;

/** Real time: the monotonic clock and the timers of the JavaScript runtime. */
export const systemClock: Clock = {
  now: () => performance.now(),
  timer: (fn, ms) => new SystemTimer(fn, Math.min(ms, longestMs)),
};

class SystemTimer implements Timer {
  readonly #fn: () => void;
  readonly #ms: number;
  #handle: ReturnType<typeof setTimeout>;

  constructor(fn: () => void, ms: number) {
    this.#fn = fn;
    this.#ms = ms;
    this.#handle = this.#start();
  }

  restart(): void {
    this.stop();
    this.#handle = this.#start();
  }

  stop(): void {
    clearTimeout(this.#handle);
  }

  #start(): ReturnType<typeof setTimeout> {
    const handle = setTimeout(this.#fn, this.#ms);
    // Runtimes whose handles are numbers have no process to keep alive.
    if (typeof handle === "object") handle.unref();
    return handle;
  }
}
