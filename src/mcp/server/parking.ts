import type { Clock, Timer } from "../../core/effects.ts";
import type { HeldCall } from "./heldCall.ts";

export interface ParkingLimits {
  /** How long a call waits for its answers, in milliseconds. */
  readonly answerMs: number;
  /** Calls of one principal that wait at once. */
  readonly perPrincipal: number;
}

interface Parked {
  readonly call: HeldCall;
  readonly principal: string;
  /** Of what stays of it, as JSON in UTF-16 units. */
  readonly length: number;
  readonly timer: Timer;
}

/** What the calls of one principal that wait may hold together, as JSON in UTF-16 units. */
const maxLength = 32 * 1024 * 1024;

/** The calls that wait for their clients to come back with answers. */
export class Parking {
  readonly #clock: Clock;
  readonly #limits: ParkingLimits;
  readonly #parked = new Map<string, Parked>();
  #closed = false;

  constructor(clock: Clock, limits: ParkingLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** The call is found again by `id`. False where there is no room, and then it has been abandoned. */
  put(id: string, call: HeldCall): boolean {
    const principal = call.request.exchange.principal.id;
    const own = [...this.#parked.values()].filter((parked) => parked.principal === principal);
    const { length } = JSON.stringify([call.request.message, call.inputRequests]);
    const held = own.reduce((sum, parked) => sum + parked.length, length);
    const isFull = own.length >= this.#limits.perPrincipal || (own.length > 0 && held > maxLength);
    if (this.#closed || isFull) {
      call.abandon("Too many calls of this principal wait for answers, or the server is stopping.");
      return false;
    }
    const timer = this.#clock.timer(() => {
      this.#parked.delete(id);
      call.abandon("The client did not answer in time.");
    }, this.#limits.answerMs);
    this.#parked.set(id, { call, principal, length, timer });
    return true;
  }

  /** Takes it out: whoever comes second with the same state gets nothing. */
  take(id: string): HeldCall | undefined {
    const parked = this.#parked.get(id);
    if (!parked) return undefined;
    this.#parked.delete(id);
    parked.timer.stop();
    return parked.call;
  }

  /** What waits is abandoned, and so is whatever comes later. */
  close(): void {
    this.#closed = true;
    for (const { call, timer } of this.#parked.values()) {
      timer.stop();
      call.abandon("The server is stopping.");
    }
    this.#parked.clear();
  }
}
