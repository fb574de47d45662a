import { backoffMs } from "../../core/backoff.ts";
import type { Clock, Timer } from "../../core/effects.ts";
import { parse, type Incoming } from "../../wire/jsonrpc.ts";
import { readEvents } from "./dialBody.ts";
import type { HeaderMap } from "./dialHeaders.ts";
import type { Requested, Requester } from "./dialRequest.ts";

export interface ServerStreamOptions {
  readonly requester: Requester;
  readonly clock: Clock;
  readonly maxBytes: number;
  /** Asked for at each try. */
  headers(): HeaderMap;
  onMessage(incoming: Incoming): void;
  /** What came while there was no stream is lost: it begins anew, or the server does not know the session any more. */
  onMissed(): void;
}

/**
 * What a legacy server sends outside any request: the stream that GET opens (specification 2025-11-25,
 * transports, Listening for Messages from the Server). Comes back after a drop, from the last event on, with
 * growing pauses. Ends for good if the server has no such stream.
 */
export class ServerStream {
  readonly #options: ServerStreamOptions;
  #requested: Requested | undefined;
  #timer: Timer | undefined;
  #closed = false;
  #wasOpen = false;
  #failures = 0;
  #retryMs = 0;
  #lastEventId: string | undefined;

  constructor(options: ServerStreamOptions) {
    this.#options = options;
  }

  open(): void {
    void this.#read().then((again) => {
      this.#requested = undefined;
      if (!again || this.#closed) return;
      this.#failures += 1;
      const pause = Math.min(60_000, Math.max(this.#retryMs, backoffMs(this.#failures)));
      this.#timer = this.#options.clock.timer(() => this.open(), pause);
    });
  }

  close(): void {
    this.#closed = true;
    this.#timer?.stop();
    this.#requested?.request.destroy();
  }

  /** Reads one stream to its end; false if there is no use in asking again. */
  async #read(): Promise<boolean> {
    const { requester, headers, maxBytes, onMessage, onMissed } = this.#options;
    try {
      this.#requested = requester.start("GET", {
        ...headers(),
        accept: "text/event-stream",
        ...(this.#lastEventId !== undefined && { "last-event-id": utf8(this.#lastEventId) }),
      });
      const response = await this.#requested.response;
      const status = response.statusCode ?? 0;
      const isStream =
        status === 200 && /^\s*text\/event-stream\b/i.test(response.headers["content-type"] ?? "");
      // From its last event on, the server sends again what was missed.
      const goesOn = status >= 500 || (isStream && this.#lastEventId !== undefined);
      if (this.#wasOpen && !goesOn) onMissed();
      if (!isStream) {
        response.destroy();
        // 405 is the regular "no such stream"; other answers below 500 will not get better either.
        return status >= 500;
      }
      this.#wasOpen = true;
      await readEvents(response, {
        maxBytes,
        onRetry: (ms) => (this.#retryMs = ms),
        onEvent: (event) => {
          this.#failures = 0;
          this.#lastEventId = event.id ?? this.#lastEventId;
          onMessage(parse(event.data));
        },
      });
    } catch {
      // Dropped, refused or flooded: whoever sends the next request learns of a server that is gone.
    }
    return true;
  }
}

/** Text as a header carries it: in UTF-8 (WHATWG HTML, section 9.2.3). Node takes a character for each byte. */
function utf8(text: string): string {
  return Buffer.from(text).toString("latin1");
}
