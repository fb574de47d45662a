import { Cancellation } from "../../core/cancellation.ts";
import type { Clock, Timer } from "../../core/effects.ts";
import { systemClock } from "../../core/systemClock.ts";
import { encode, type Incoming, type JsonRpcMessage, type RequestId } from "../../wire/jsonrpc.ts";
import type { Dial, Link, LinkEvents, SendOptions } from "../../wire/link.ts";
import { idOf, readAnswer } from "./dialAnswer.ts";
import { SessionLost } from "./dialErrors.ts";
import { FallbackLink } from "./dialFallback.ts";
import { modernVersionOf, postHeaders, sessionHeaders, type HeaderMap } from "./dialHeaders.ts";
import { defaultMaxBytes, lingerMs, noticeMs, type DialHttpOptions } from "./dialOptions.ts";
import { Requester } from "./dialRequest.ts";
import { resume } from "./dialResume.ts";
import { SseLink } from "./dialSse.ts";
import { ServerStream } from "./dialStream.ts";

export { HttpError, SessionLost } from "./dialErrors.ts";
export type { DialHttpOptions } from "./dialOptions.ts";

/** A message under way. */
interface Open {
  readonly modern: boolean;
  readonly cancellation: Cancellation;
  timer?: Timer;
}

/** How long the end of a session waits for the server. */
const goodbyeMs = 2_000;

/**
 * Reaches a server by HTTP, of either era (specification 2026-07-28, basic/transports/streamable-http; 2025-11-25,
 * basic/transports). Dialling connects nothing yet; each message is a POST of its own, and `send` resolves when it
 * has been answered. It rejects with `HttpError`, `SessionLost`, or an `Error` where the server could not be
 * reached. The link reports its own end only where it knows of one: a legacy server's stream says that the session
 * is gone, or the stream of an HTTP+SSE server ends. Else the next request may well succeed.
 */
export function dialHttp(options: DialHttpOptions): Dial {
  const openSse = (events: LinkEvents): SseLink => new SseLink(options, events);
  return async (events) => {
    if (options.sse === true) return openSse(events);
    const link = new HttpLink(options, events);
    return options.sse === false ? link : new FallbackLink(link, () => openSse(events));
  };
}

class HttpLink implements Link {
  readonly #events: LinkEvents;
  readonly #clock: Clock;
  readonly #maxBytes: number;
  readonly #requester: Requester;
  readonly #running = new Set<Open>();
  readonly #open = new Map<RequestId, Open>();
  readonly #stream: ServerStream;
  #session: { id?: string; protocolVersion?: string } = {};
  #lost: SessionLost | undefined;
  #closed = false;

  constructor(options: DialHttpOptions, events: LinkEvents) {
    this.#events = events;
    this.#clock = options.clock ?? systemClock;
    this.#maxBytes = options.maxMessageBytes ?? defaultMaxBytes;
    this.#requester = new Requester({ ...options, url: new URL(options.url) });
    this.#stream = new ServerStream({
      requester: this.#requester,
      clock: this.#clock,
      maxBytes: this.#maxBytes,
      headers: () => sessionHeaders(this.#session),
      onMessage: (incoming) => this.#deliver(incoming),
      onMissed: () => events.missed?.(),
      onNotFound: () => this.#notFound(),
    });
  }

  async send(message: JsonRpcMessage, extra?: SendOptions): Promise<void> {
    if (this.#lost) throw this.#lost;
    if (this.#closed) throw new Error(`The link to ${this.#requester.address} is closed.`);
    const open: Open = {
      modern: modernVersionOf(message) !== undefined,
      cancellation: new Cancellation(),
    };
    const id = idOf(message);
    this.#running.add(open);
    if (id !== undefined) this.#open.set(id, open);
    else this.#endAfter(noticeMs, open);
    try {
      await this.#post(message, open, postHeaders(message, this.#session, extra?.headers));
    } catch (error) {
      if (error instanceof SessionLost) this.#lost = error;
      throw error;
    } finally {
      open.timer?.stop();
      this.#running.delete(open);
      if (id !== undefined) this.#open.delete(id);
    }
  }

  cancel(id: RequestId): boolean {
    const open = this.#open.get(id);
    if (!open) return false;
    if (open.modern) open.cancellation.cancel("cancelled");
    else this.#endAfter(lingerMs, open);
    return open.modern;
  }

  negotiated(protocolVersion: string): void {
    this.#session = { ...this.#session, protocolVersion };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#stop();
    await this.#goodbye();
    this.#requester.close();
  }

  async #post(message: JsonRpcMessage, open: Open, headers: HeaderMap): Promise<void> {
    const { modern, cancellation } = open;
    const response = await this.#requester.send({
      method: "POST",
      headers,
      body: encode(message),
      cancellation,
    });
    const method = "method" in message ? message.method : undefined;
    const session = response.headers["mcp-session-id"];
    if (method === "initialize" && typeof session === "string")
      this.#session = { ...this.#session, id: session };
    const id = idOf(message);
    await readAnswer(response, {
      id,
      address: this.#requester.address,
      maxBytes: this.#maxBytes,
      inSession: !modern && method !== "initialize" && this.#session.id !== undefined,
      onMessage: (incoming) => this.#deliver(incoming, id),
      onStreamAnswered: () => this.#endAfter(lingerMs, open),
      ...(!modern && {
        resume: (cursor) =>
          resume(cursor, {
            requester: this.#requester,
            clock: this.#clock,
            headers: sessionHeaders(this.#session),
            cancellation,
          }),
      }),
    });
    if (method === "notifications/initialized" && !this.#closed) this.#stream.open();
  }

  #deliver(incoming: Incoming, cause?: RequestId): void {
    if (!this.#closed) this.#events.message(incoming, cause);
  }

  /** Nobody waits for it, or not for longer: the server may end it properly, but not keep it. */
  #endAfter(ms: number, open: Open): void {
    open.timer ??= this.#clock.timer(() => open.cancellation.cancel("late"), ms);
  }

  #stop(): void {
    this.#closed = true;
    this.#stream.close();
    for (const { cancellation } of this.#running) cancellation.cancel("closed");
  }

  /** The session is gone. What was under way may have run: it fails with an error that does not say otherwise. */
  #notFound(): void {
    const { address } = this.#requester;
    this.#lost = new SessionLost(`${address} does not know the session any more (HTTP 404).`);
    this.#stop();
    this.#requester.close();
    this.#events.closed(new Error(this.#lost.message));
  }

  /** Ends the legacy session. It is a courtesy: whatever goes wrong, the link is closed. */
  async #goodbye(): Promise<void> {
    if (this.#session.id === undefined || this.#lost) return;
    const cancellation = new Cancellation();
    const timer = this.#clock.timer(() => cancellation.cancel("late"), goodbyeMs);
    const headers = sessionHeaders(this.#session);
    await this.#requester.send({ method: "DELETE", headers, cancellation }).then(
      (answer) => answer.resume(),
      () => {},
    );
    timer.stop();
  }
}
