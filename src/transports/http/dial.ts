import type { Clock } from "../../core/effects.ts";
import { systemClock } from "../../core/systemClock.ts";
import { encode, type Incoming, type JsonRpcMessage, type RequestId } from "../../wire/jsonrpc.ts";
import type { Dial, Link, LinkEvents, SendOptions } from "../../wire/link.ts";
import { idOf, readAnswer } from "./dialAnswer.ts";
import { SessionLost } from "./dialErrors.ts";
import { lowerCase, modernVersionOf, postHeaders, sessionHeaders } from "./dialHeaders.ts";
import { Requester, type Requested } from "./dialRequest.ts";
import { ServerStream } from "./dialStream.ts";

export { HttpError, SessionLost } from "./dialErrors.ts";

export interface DialHttpOptions {
  /** The MCP endpoint, http or https. */
  readonly url: string;
  /** Sent with every request, credentials for example. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The longest body, or event of a stream. Default 32 MiB. */
  readonly maxMessageBytes?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** A POST whose answer is awaited. */
interface Open extends Requested {
  readonly modern: boolean;
}

/** How long the stream of an answered or cancelled request may stay open. */
const lingerMs = 5_000;
/** How long the end of a session waits for the server. */
const goodbyeMs = 2_000;
/** How long the server may take over a message that wants no answer. */
const noticeMs = 10_000;

/**
 * Reaches a server by Streamable HTTP, of either era (specification 2026-07-28, basic/transports/streamable-http;
 * 2025-11-25, basic/transports). Dialling connects nothing yet; each message is a POST of its own, and `send`
 * resolves when it has been answered. It rejects with `HttpError`, `SessionLost`, or an `Error` where the
 * server could not be reached. Such a link never reports its own end: the next request may well succeed.
 */
export function dialHttp(options: DialHttpOptions): Dial {
  return async (events) => new HttpLink(options, events);
}

class HttpLink implements Link {
  readonly #events: LinkEvents;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  readonly #requester: Requester;
  readonly #running = new Set<Requested>();
  readonly #open = new Map<RequestId, Open>();
  readonly #stream: ServerStream;
  #session: { id?: string; protocolVersion?: string } = {};
  #lost: SessionLost | undefined;
  #closed = false;

  constructor(options: DialHttpOptions, events: LinkEvents) {
    this.#events = events;
    this.#clock = options.clock ?? systemClock;
    this.#maxBytes = options.maxMessageBytes ?? 32 * 1024 * 1024;
    this.#requester = new Requester(new URL(options.url), lowerCase(options.headers ?? {}));
    this.#stream = new ServerStream({
      requester: this.#requester,
      clock: this.#clock,
      maxBytes: this.#maxBytes,
      headers: () => sessionHeaders(this.#session),
      onMessage: (incoming) => this.#deliver(incoming),
      onMissed: () => events.missed?.(),
    });
  }

  async send(message: JsonRpcMessage, extra?: SendOptions): Promise<void> {
    if (this.#closed) throw new Error(`The link to ${this.#requester.address} is closed.`);
    if (this.#lost) throw this.#lost;
    const headers = postHeaders(message, this.#session, extra?.headers);
    const open: Open = {
      ...this.#requester.start("POST", headers, encode(message)),
      modern: modernVersionOf(message) !== undefined,
    };
    const id = idOf(message);
    this.#running.add(open);
    if (id !== undefined) this.#open.set(id, open);
    else this.#endAfter(noticeMs, open.request);
    try {
      await this.#answered(message, open);
    } catch (error) {
      if (error instanceof SessionLost) this.#lost = error;
      throw error;
    } finally {
      this.#running.delete(open);
      if (id !== undefined) this.#open.delete(id);
    }
  }

  cancel(id: RequestId): boolean {
    const open = this.#open.get(id);
    if (!open) return false;
    if (open.modern) open.request.destroy();
    else this.#linger(open);
    return open.modern;
  }

  negotiated(protocolVersion: string): void {
    this.#session = { ...this.#session, protocolVersion };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stream.close();
    for (const { request } of this.#running) request.destroy();
    await this.#goodbye();
    this.#requester.close();
  }

  async #answered(message: JsonRpcMessage, open: Open): Promise<void> {
    const response = await open.response;
    const method = "method" in message ? message.method : undefined;
    const session = response.headers["mcp-session-id"];
    if (method === "initialize" && typeof session === "string")
      this.#session = { ...this.#session, id: session };
    await readAnswer(response, {
      id: idOf(message),
      address: this.#requester.address,
      maxBytes: this.#maxBytes,
      inSession: !open.modern && method !== "initialize" && this.#session.id !== undefined,
      onMessage: (incoming) => this.#deliver(incoming),
      onStreamAnswered: () => this.#linger(open),
    });
    if (method === "notifications/initialized" && !this.#closed) this.#stream.open();
  }

  #deliver(incoming: Incoming): void {
    if (!this.#closed) this.#events.message(incoming);
  }

  /** Nobody waits for this stream any more: the server may end it properly, but not keep it. */
  #linger(open: Open): void {
    this.#endAfter(lingerMs, open.request);
  }

  #endAfter(ms: number, request: Requested["request"]): void {
    const timer = this.#clock.timer(() => request.destroy(), ms);
    request.on("close", () => timer.stop());
  }

  /** Ends the legacy session. It is a courtesy: whatever goes wrong, the link is closed. */
  async #goodbye(): Promise<void> {
    if (this.#session.id === undefined || this.#lost) return;
    const { request, response } = this.#requester.start("DELETE", sessionHeaders(this.#session));
    const timer = this.#clock.timer(() => request.destroy(), goodbyeMs);
    await response.then(
      (answer) => answer.resume(),
      () => {},
    );
    timer.stop();
  }
}
