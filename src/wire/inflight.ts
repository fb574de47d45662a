import { Cancellation } from "../core/cancellation.ts";
import type { RequestId } from "./jsonrpc.ts";

/** The requests that a peer has made and not had answered, so that it can cancel them by id. */
export class Inflight {
  readonly #running = new Map<RequestId, Cancellation>();

  get size(): number {
    return this.#running.size;
  }

  /** Undefined if a request with this id is running already. */
  begin(id: RequestId, parent?: Cancellation): Cancellation | undefined {
    if (this.#running.has(id)) return undefined;
    const cancellation = parent?.child() ?? new Cancellation();
    this.#running.set(id, cancellation);
    return cancellation;
  }

  /** An unknown id is normal: the answer may be on its way. */
  cancel(id: RequestId, reason: unknown): void {
    this.#running.get(id)?.cancel(reason);
  }

  end(id: RequestId): void {
    this.#running.get(id)?.release();
    this.#running.delete(id);
  }

  cancelAll(reason: unknown): void {
    for (const cancellation of this.#running.values()) cancellation.cancel(reason);
  }
}
