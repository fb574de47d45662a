import { backoffMs } from "../../core/backoff.ts";
import { Cancellation } from "../../core/cancellation.ts";
import type { Clock, Timer } from "../../core/effects.ts";
import type { JsonObject } from "../../core/json.ts";
import { RpcError, rpcErrors, type RequestId } from "../../wire/jsonrpc.ts";
import type { RequestOptions } from "../../wire/peer.ts";

export interface SubscriptionOptions {
  readonly clock: Clock;
  /** What to listen for now; undefined: nothing. */
  filter(): JsonObject | undefined;
  /** Sends `subscriptions/listen`; settles when the server has ended it or it is cancelled. */
  listen(notifications: JsonObject, options: RequestOptions): Promise<unknown>;
  /** The subscription stands again after a pause in which changes may have been missed. */
  onGap(): void;
}

/** One `subscriptions/listen` request. */
interface Listen {
  /** Of what is listened for. */
  readonly version: number;
  readonly cancellation: Cancellation;
  /** Until the acknowledgement. */
  readonly patience: Timer;
  id: RequestId | undefined;
  acknowledgedAt: number | undefined;
}

interface Waiting {
  readonly version: number;
  resolve(honoured: JsonObject): void;
  reject(error: unknown): void;
}

/** For the acknowledgement, in milliseconds. */
const patienceMs = 30_000;
/** A subscription that stood for this long has not failed at once: the pauses begin anew, in milliseconds. */
const stableMs = 10_000;

/**
 * Keeps one `subscriptions/listen` request open (specification 2026-07-28, basic/patterns/subscriptions): however it
 * ends, it is sent again after a growing pause, until `close`. When what to listen for changes, another takes its
 * place, and the first goes once that one is acknowledged; changes meanwhile wait for the next. A server that does
 * not know the method is not asked again.
 */
export class Subscription {
  readonly #options: SubscriptionOptions;
  #version = 0;
  #current: Listen | undefined;
  /** Not acknowledged yet. */
  #next: Listen | undefined;
  #pause: Timer | undefined;
  #failures = 0;
  #isGap = false;
  #over: Error | undefined;
  #waiting: Waiting[] = [];

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  /**
   * What to listen for has changed. Resolves with what of it the server will tell (`notifications` of its
   * acknowledgement), rejects if the server refuses; then it is tried again.
   */
  changed(): Promise<JsonObject> {
    const version = ++this.#version;
    const honoured = new Promise<JsonObject>((resolve, reject) => {
      this.#waiting.push({ version, resolve, reject });
    });
    // Not everybody waits for it.
    honoured.catch(() => {});
    if (this.#over) this.#settle(version, (waiting) => waiting.reject(this.#over));
    this.#open();
    return honoured;
  }

  acknowledged(id: unknown, notifications: JsonObject): void {
    const listen = this.#next;
    if (!listen || listen.id !== id) return;
    listen.patience.stop();
    listen.acknowledgedAt = this.#options.clock.now();
    const before = this.#current;
    this.#current = listen;
    this.#next = undefined;
    before?.cancellation.cancel("another takes its place");
    this.#settle(listen.version, ({ resolve }) => resolve(notifications));
    if (this.#isGap) this.#options.onGap();
    this.#isGap = false;
    this.#open();
  }

  cancelled(id: RequestId): void {
    for (const listen of [this.#next, this.#current])
      if (listen?.id === id) listen.cancellation.cancel("the server ended the subscription");
  }

  close(): void {
    this.#end(new Error("the connection is closed"));
  }

  /** Sends the request for what is wanted now, unless there is one already or a pause to be kept. */
  #open(): void {
    if (this.#over || this.#next || this.#pause || this.#current?.version === this.#version) return;
    const version = this.#version;
    const filter = this.#options.filter();
    if (!filter) return this.#rest(version);
    const cancellation = new Cancellation();
    const patience = this.#options.clock.timer(() => cancellation.cancel("not acknowledged"), patienceMs);
    const listen: Listen = { version, cancellation, patience, id: undefined, acknowledgedAt: undefined };
    this.#next = listen;
    this.#options.listen(filter, { cancellation, onId: (id) => (listen.id = id) }).then(
      () => this.#ended(listen, new Error("the server ended the subscription")),
      (error: Error) => this.#ended(listen, error),
    );
  }

  #rest(version: number): void {
    const before = this.#current;
    this.#current = undefined;
    this.#isGap = false;
    before?.cancellation.cancel("nothing to listen for");
    this.#settle(version, ({ resolve }) => resolve({}));
  }

  #ended(listen: Listen, error: Error): void {
    listen.patience.stop();
    if (listen === this.#current) this.#current = undefined;
    else if (listen === this.#next) {
      this.#next = undefined;
      this.#settle(listen.version, ({ reject }) => reject(error));
    } else return;
    if (!this.#current) this.#isGap = true;
    if (error instanceof RpcError && error.code === rpcErrors.methodNotFound) return this.#end(error);
    if (this.#over) return;
    const { clock } = this.#options;
    const { acknowledgedAt } = listen;
    if (acknowledgedAt !== undefined && clock.now() - acknowledgedAt >= stableMs) this.#failures = 0;
    this.#failures += 1;
    this.#pause ??= clock.timer(() => {
      this.#pause = undefined;
      this.#open();
    }, backoffMs(this.#failures));
  }

  #end(error: Error): void {
    this.#over ??= error;
    this.#pause?.stop();
    for (const listen of [this.#next, this.#current]) listen?.cancellation.cancel("closed");
    this.#settle(this.#version, ({ reject }) => reject(error));
  }

  /** Those that wait for this version or an earlier one. */
  #settle(version: number, settle: (waiting: Waiting) => void): void {
    const due = this.#waiting.filter((waiting) => waiting.version <= version);
    this.#waiting = this.#waiting.filter((waiting) => waiting.version > version);
    for (const waiting of due) settle(waiting);
  }
}
