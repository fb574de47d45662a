import type { ServerResponse } from "node:http";
import type { Clock, Log, Timer } from "../../core/effects.ts";
import { encode, type JsonRpcNotification } from "../../wire/jsonrpc.ts";
import type { ResponseHeaders } from "./respond.ts";

/** Milliseconds between comments, below the idle time-outs of common proxies. */
const keepAliveMs = 15_000;
/** Bytes that may wait for a slow reader before its notifications are dropped. */
const maxWaiting = 1024 * 1024;

export interface StreamEffects {
  readonly clock: Clock;
  readonly log: Log;
}

export interface StreamHead {
  readonly status?: number;
  readonly headers?: ResponseHeaders;
}

/** One message as a server-sent event. JSON text has no line break, so that one `data` line holds it. */
export function encodeEvent(text: string): string {
  return `event: message\ndata: ${text}\n\n`;
}

/**
 * A response that is a stream of server-sent events (WHATWG HTML, section 9.2). A reader that is too slow
 * loses notifications, never the last message, and the log says how many.
 */
export class EventStream {
  readonly #res: ServerResponse;
  readonly #log: Log;
  readonly #keepAlive: Timer;
  #dropped = 0;
  #over = false;

  constructor(res: ServerResponse, { clock, log }: StreamEffects, head: StreamHead = {}) {
    this.#res = res;
    this.#log = log;
    res.writeHead(head.status ?? 200, {
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-cache",
      "X-Accel-Buffering": "no",
      ...head.headers,
    });
    this.#keepAlive = clock.timer(() => {
      if (!this.#full) res.write(":\n\n");
      this.#keepAlive.restart();
    }, keepAliveMs);
  }

  get #full(): boolean {
    return this.#res.writableLength > maxWaiting;
  }

  send(notification: JsonRpcNotification): void {
    if (this.#over) return;
    if (this.#full) this.#dropped++;
    else this.#res.write(encodeEvent(encode(notification)));
  }

  /** Ends the response, with `text` as its last message if there is one. */
  end(text?: string): void {
    if (this.#over) return;
    this.closed();
    if (text === undefined) this.#res.end();
    else this.#res.end(encodeEvent(text));
  }

  /** The connection is gone. */
  closed(): void {
    if (this.#over) return;
    this.#over = true;
    this.#keepAlive.stop();
    if (this.#dropped > 0)
      this.#log("warning", "A client read its event stream too slowly and missed notifications.", {
        dropped: this.#dropped,
      });
  }
}
