import type { IncomingMessage } from "node:http";
import { Cancellation } from "../../core/cancellation.ts";
import type { Clock } from "../../core/effects.ts";
import type { Incoming } from "../../wire/jsonrpc.ts";
import { isEventStream } from "./dialBody.ts";
import type { HeaderMap } from "./dialHeaders.ts";
import type { Requester } from "./dialRequest.ts";
import { isPassing, StreamCursor } from "./dialResume.ts";

export interface ServerStreamOptions {
  readonly requester: Requester;
  readonly clock: Clock;
  readonly maxBytes: number;
  /** Those of the session. Asked for at each try. */
  headers(): HeaderMap;
  onMessage(incoming: Incoming): void;
  /** What came while there was no stream is lost: it begins anew, or not at all. */
  onMissed(): void;
  /** 404, where there was a stream before: the server does not know the session any more. */
  onNotFound(): void;
}

/**
 * What a legacy server sends outside any request: the stream that GET opens (specification 2025-11-25,
 * transports, Listening for Messages from the Server). Comes back after a drop, from the last event on, with
 * growing pauses. Ends for good if the server has no such stream.
 */
export class ServerStream {
  readonly #options: ServerStreamOptions;
  readonly #cursor = new StreamCursor();
  readonly #cancellation = new Cancellation();
  #wasOpen = false;

  constructor(options: ServerStreamOptions) {
    this.#options = options;
  }

  open(): void {
    // Rejects when closed in a pause.
    this.#keep().catch(() => {});
  }

  close(): void {
    this.#cancellation.cancel("closed");
  }

  async #keep(): Promise<void> {
    while (await this.#read()) await this.#cursor.pause(this.#options.clock, this.#cancellation);
  }

  /** Reads one stream to its end; false if there is no use in asking again. */
  async #read(): Promise<boolean> {
    const { requester, headers, maxBytes, onMessage } = this.#options;
    try {
      const response = await requester.send({
        method: "GET",
        headers: { ...headers(), ...this.#cursor.headers },
        cancellation: this.#cancellation,
      });
      if (response.statusCode !== 200 || !isEventStream(response)) return this.#refused(response);
      // From its last event on, the server sends again what was missed.
      if (this.#wasOpen && !this.#cursor.resumable) this.#options.onMissed();
      this.#wasOpen = true;
      await this.#cursor.read(response, maxBytes, onMessage);
    } catch {
      // Dropped, refused or flooded: whoever sends the next request learns of a server that is gone.
    }
    return true;
  }

  #refused(response: IncomingMessage): boolean {
    const status = response.statusCode ?? 0;
    response.destroy();
    if (isPassing(status)) return true;
    // Before there was a stream, 404 is only another way to say 405: that there is none.
    if (this.#wasOpen && status === 404) this.#options.onNotFound();
    else if (this.#wasOpen) this.#options.onMissed();
    return false;
  }
}
