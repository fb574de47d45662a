import { backoffMs } from "../../core/backoff.ts";
import { Cancellation } from "../../core/cancellation.ts";
import type { Clock, Timer } from "../../core/effects.ts";
import { RpcError, rpcErrors } from "../../wire/jsonrpc.ts";

export interface SubscriptionOptions {
  readonly clock: Clock;
  /** Sends `subscriptions/listen`; settles when the server has ended it or it is cancelled. */
  listen(cancellation: Cancellation): Promise<unknown>;
  /** The subscription stands again after a pause in which changes may have been missed. */
  onGap(): void;
}

/**
 * Keeps one `subscriptions/listen` request open (specification 2026-07-28, basic/patterns/subscriptions):
 * however it ends, it is sent again after a growing pause, until `close`. A server that does not know the
 * method is not asked again.
 */
export class Subscription {
  readonly #options: SubscriptionOptions;
  #cancellation = new Cancellation();
  #timer: Timer | undefined;
  #closed = false;
  #failures = 0;
  #hadOne = false;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  open(): void {
    this.#cancellation = new Cancellation();
    this.#options.listen(this.#cancellation).then(
      () => this.#again(),
      (error: unknown) => {
        if (!(error instanceof RpcError && error.code === rpcErrors.methodNotFound)) this.#again();
      },
    );
  }

  /** The server's word on the subscription. */
  heard(event: "acknowledged" | "cancelled"): void {
    if (event === "cancelled") return this.#cancellation.cancel("the server ended the subscription");
    this.#failures = 0;
    if (this.#hadOne) this.#options.onGap();
    this.#hadOne = true;
  }

  close(): void {
    this.#closed = true;
    this.#timer?.stop();
    this.#cancellation.cancel("closed");
  }

  #again(): void {
    if (this.#closed) return;
    this.#failures += 1;
    this.#timer = this.#options.clock.timer(() => this.open(), backoffMs(this.#failures));
  }
}
