import type { Cancellation } from "../../core/cancellation.ts";
import type { Clock } from "../../core/effects.ts";
import type { Dial, Link } from "../../wire/link.ts";
import { Peer } from "../../wire/peer.ts";
import type { Inbound } from "./inbound.ts";

export interface WireOptions {
  readonly dial: Dial;
  readonly clock: Clock;
  readonly inbound: Inbound;
  /** Ends the dialling, and the wire after it, until the handshake is over. */
  readonly cancellation: Cancellation;
}

/** A link with the peer that speaks over it. */
export class Wire {
  readonly peer: Peer;
  readonly link: Link;
  /** Resolves with the reason when the other side is gone. `close` does not resolve it. */
  readonly gone: Promise<Error>;
  #isGone = false;

  private constructor(peer: Peer, link: Link, gone: Promise<Error>) {
    this.peer = peer;
    this.link = link;
    this.gone = gone;
    void gone.then(() => (this.#isGone = true));
  }

  /** Rejects with the dialler's error, or with the reason of the cancellation as an `Error`. */
  static open(options: WireOptions): Promise<Wire> {
    const { dial, clock, inbound, cancellation } = options;
    const peer = new Peer({
      clock,
      onRequest: (request, origin) => inbound.request(request, origin),
      onNotification: (notification, cause) => inbound.notification(notification, cause),
      onStray: (incoming) => inbound.stray(incoming),
    });
    const { promise: gone, resolve: closed } = deferred<Error>();
    const events = {
      message: peer.receive.bind(peer),
      missed: () => inbound.missed(),
      closed(error: Error) {
        peer.close(error);
        closed(error);
      },
    };
    return new Promise((resolve, reject) => {
      const stop = cancellation.onCancel((reason) => reject(asError(reason)));
      dial(events)
        .then(async (link) => {
          if (cancellation.cancelled) return link.close();
          peer.attach(link);
          return resolve(new Wire(peer, link, gone));
        })
        .catch(reject)
        .finally(stop);
    });
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Rejects everything that waits with `error` and ends the link. */
  async close(error: Error): Promise<void> {
    this.peer.close(error);
    await this.link.close();
  }
}

export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => (resolve = done));
  return { promise, resolve };
}
