import type { IncomingMessage } from "node:http";
import { backoffMs } from "../../core/backoff.ts";
import type { Cancellation } from "../../core/cancellation.ts";
import type { Clock } from "../../core/effects.ts";
import type { Incoming } from "../../wire/jsonrpc.ts";
import { isEventStream, messageIn, readEvents } from "./dialBody.ts";
import type { HeaderMap } from "./dialHeaders.ts";
import type { Requester } from "./dialRequest.ts";

/** The pauses that a server may ask for, in milliseconds: none that floods it, none beyond what a timer can count. */
const shortestMs = 100;
const longestMs = 3_600_000;
/** Tries in a row that give no stream, before a request is given up. */
const maxTries = 5;

/**
 * How far a legacy stream of events has been read, so that it can be taken up again after a break
 * (specification 2025-11-25, transports, Resumability and Redelivery).
 */
export class StreamCursor {
  #lastEventId: string | undefined;
  #retryMs: number | undefined;
  #failures = 0;

  /** The server has given its events ids: it may know what came after the last. */
  get resumable(): boolean {
    return this.#lastEventId !== undefined;
  }

  /** Of the GET that opens the stream, or takes it up again. */
  get headers(): HeaderMap {
    const accept = "text/event-stream";
    if (this.#lastEventId === undefined) return { accept };
    return { accept, "last-event-id": utf8(this.#lastEventId) };
  }

  /** Reads one response to its end and passes on its messages. Rejects as `readEvents` does. */
  read(response: IncomingMessage, maxBytes: number, onMessage: (incoming: Incoming) => void): Promise<void> {
    return readEvents(response, {
      maxBytes,
      onRetry: (ms) => (this.#retryMs = ms),
      onEvent: (event) => {
        this.#failures = 0;
        // An empty id takes back the last (WHATWG HTML, section 9.2.6).
        if (event.id !== undefined) this.#lastEventId = event.id || undefined;
        const incoming = messageIn(event);
        if (incoming) onMessage(incoming);
      },
    });
  }

  /** Waits before the next try: as long as the server has asked for, and longer each time that nothing comes. */
  pause(clock: Clock, cancellation: Cancellation): Promise<void> {
    this.#failures += 1;
    const asked = this.#retryMs === undefined ? undefined : Math.max(shortestMs, this.#retryMs);
    const own = asked !== undefined && this.#failures === 1 ? 0 : backoffMs(this.#failures);
    const ms = Math.min(longestMs, Math.max(asked ?? 0, own));
    return new Promise((resolve, reject) => {
      const timer = clock.timer(() => {
        stop();
        resolve();
      }, ms);
      const stop = cancellation.onCancel(() => {
        timer.stop();
        reject(new Error("the stream was given up"));
      });
    });
  }
}

export interface ResumeOptions {
  readonly requester: Requester;
  readonly clock: Clock;
  /** Those of the session. */
  readonly headers: HeaderMap;
  readonly cancellation: Cancellation;
}

/** The stream from the last event on. Rejects with an `Error` if the server does not give it, or not soon enough. */
export async function resume(cursor: StreamCursor, options: ResumeOptions): Promise<IncomingMessage> {
  const { requester, clock, headers, cancellation } = options;
  let reason = "";
  for (let tries = 0; tries < maxTries; tries++) {
    await cursor.pause(clock, cancellation);
    const response = await requester
      .send({ method: "GET", headers: { ...headers, ...cursor.headers }, cancellation })
      .catch((error: Error) => error);
    if (response instanceof Error) {
      reason = response.message;
      continue;
    }
    const status = response.statusCode ?? 0;
    if (status === 200 && isEventStream(response)) return response;
    response.destroy();
    reason = `HTTP ${status}`;
    if (!isPassing(status)) break;
  }
  throw new Error(`it could not be taken up again: ${reason}`);
}

/** Another try may well succeed. 409: the server has not noticed yet that the stream before has ended. */
export function isPassing(status: number): boolean {
  return status >= 500 || status === 409 || status === 429;
}

/** Text as a header carries it: in UTF-8 (WHATWG HTML, section 9.2.3). Node takes a character for each byte. */
function utf8(text: string): string {
  return Buffer.from(text).toString("latin1");
}
