/**
 * A cancellation that costs nothing until somebody looks: its `AbortSignal` is made on first use.
 * Every call has one, few tools listen to it.
 */
export class Cancellation {
  #controller: AbortController | undefined;
  #listeners: ((reason: unknown) => void)[] | undefined;
  #leave: (() => void) | undefined;
  #cancelled = false;
  #reason: unknown;

  /** Follows an existing signal. */
  static from(signal: AbortSignal): Cancellation {
    const own = new Cancellation();
    if (signal.aborted) own.cancel(signal.reason);
    else {
      const abort = (): void => own.cancel(signal.reason);
      signal.addEventListener("abort", abort, { once: true });
      own.#leave = () => signal.removeEventListener("abort", abort);
    }
    return own;
  }

  get cancelled(): boolean {
    return this.#cancelled;
  }

  get reason(): unknown {
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#cancelled) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Only the first call counts. Listeners run at once, in the order in which they came. */
  cancel(reason: unknown): void {
    if (this.#cancelled) return;
    this.#cancelled = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    const listeners = this.#listeners;
    this.#listeners = undefined;
    for (const listener of listeners ?? []) call(listener, reason);
  }

  /** Runs `listener` when cancelled, at once if it already is; what it throws is lost. Returns how to stop listening. */
  onCancel(listener: (reason: unknown) => void): () => void {
    if (this.#cancelled) {
      call(listener, this.#reason);
      return () => {};
    }
    const listeners = (this.#listeners ??= []);
    listeners.push(listener);
    return () => {
      const at = listeners.indexOf(listener);
      if (at < 0) return;
      // While they are being called, nobody's place may move.
      if (this.#cancelled) listeners[at] = () => {};
      else listeners.splice(at, 1);
    };
  }

  /** A cancellation that ends with this one and can also end alone. `release` it when its work is done. */
  child(): Cancellation {
    const child = new Cancellation();
    child.#leave = this.onCancel((reason) => child.cancel(reason));
    return child;
  }

  /** The work is done: it stops following its parent or signal, and nobody hears of a later `cancel`. */
  release(): void {
    this.#leave?.();
    this.#leave = this.#listeners = undefined;
  }
}

/** One that throws must not keep the others from hearing, or bring down whoever cancels. */
function call(listener: (reason: unknown) => void, reason: unknown): void {
  try {
    listener(reason);
  } catch {
    // There is nobody to tell: the listener's own code has failed, and the work is over.
  }
}
