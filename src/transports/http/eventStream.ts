import type { ServerResponse } from "node:http";
import type { Clock, Log, Timer } from "../../core/effects.ts";
import { isDroppable, type ServerMessage } from "../../wire/endpoint.ts";
import { encode } from "../../wire/jsonrpc.ts";
import type { ResponseHeaders } from "./respond.ts";

/** Milliseconds between comments, below the idle time-outs of common proxies. */
const keepAliveMs = 15_000;
/** Bytes that may wait for a slow reader before its notifications are dropped. */
const maxWaiting = 1024 * 1024;
/** Bytes that may wait for a slow reader before its stream is cut: what is never dropped would fill the memory. */
const maxUnread = 64 * 1024 * 1024;

export interface StreamEffects {
  readonly clock: Clock;
  readonly log: Log;
}

export interface StreamHead {
  readonly status?: number;
  readonly headers?: ResponseHeaders;
}

/** Where the messages of one request go until its reply, which is the last one. */
export interface MessageStream {
  send(message: ServerMessage): void;
  /** Ends it, with `text` as its last message if there is one. */
  end(text?: string): void;
}

/**
 * A response that is a stream of server-sent events (WHATWG HTML, section 9.2). A reader that is too slow
 * loses progress and logs, never anything else, and the log says how many; one that does not read
 * at all loses its connection.
 */
export class EventStream implements MessageStream {
  /** Undefined when the stream is over. */
  #res: ServerResponse | undefined;
  readonly #log: Log;
  readonly #keepAlive: Timer;
  #dropped = 0;

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
      if (this.#waiting <= maxWaiting) this.#res?.write(":\n\n");
      this.#keepAlive.restart();
    }, keepAliveMs);
  }

  get isOpen(): boolean {
    return this.#res !== undefined;
  }

  get #waiting(): number {
    return this.#res?.writableLength ?? 0;
  }

  send(message: ServerMessage): void {
    if (isDroppable(message)) this.sendDroppable(encode(message));
    else this.sendText(encode(message));
  }

  /** Sends one message, unless its reader is too slow. */
  sendDroppable(text: string, id?: string): void {
    if (this.#waiting > maxWaiting) this.#dropped++;
    else this.#res?.write(encodeEvent(text, id));
  }

  /** Sends one message. */
  sendText(text: string, id?: string): void {
    if (this.#waiting > maxUnread) this.#cut();
    else this.#res?.write(encodeEvent(text, id));
  }

  /** Sends fields that make no message, each a line. */
  sendFields(...lines: readonly string[]): void {
    this.#res?.write(`${lines.join("\n")}\n\n`);
  }

  end(text?: string, id?: string): void {
    if (this.#waiting > maxUnread) return this.#cut();
    const res = this.#res;
    this.closed();
    if (text === undefined) res?.end();
    else res?.end(encodeEvent(text, id));
  }

  /** The connection is gone. */
  closed(): void {
    if (!this.#res) return;
    this.#res = undefined;
    this.#keepAlive.stop();
    if (this.#dropped > 0)
      this.#log("warning", "A client read its event stream too slowly and missed notifications.", {
        dropped: this.#dropped,
      });
  }

  #cut(): void {
    const res = this.#res;
    this.closed();
    this.#log("warning", "A client did not read its event stream and was cut off.", { limit: maxUnread });
    res?.destroy();
  }
}

/** One message as a server-sent event. JSON text has no line break, so that one `data` line holds it. */
function encodeEvent(text: string, id?: string): string {
  return id === undefined
    ? `event: message\ndata: ${text}\n\n`
    : `id: ${id}\nevent: message\ndata: ${text}\n\n`;
}
