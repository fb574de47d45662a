import type { Readable, Writable } from "node:stream";
import type { Log } from "../core/effects.ts";
import type { Principal } from "../core/principal.ts";
import { Session, type Endpoint, type Exchange, type Reply } from "../wire/endpoint.ts";
import { encode, parse, type Incoming, type JsonRpcNotification } from "../wire/jsonrpc.ts";
import type { Link, LinkEvents } from "../wire/link.ts";
import { LineWriter, readLines } from "./lines.ts";

/** What a client may send in one message, in bytes. */
const maxClientMessage = 4 * 1024 * 1024;
/** What an upstream may send in one message, in bytes. */
const maxUpstreamMessage = 32 * 1024 * 1024;
/** While a client has this much to read, in bytes, it gets no more progress and logs. Answers are never dropped. */
const maxUnread = 1024 * 1024;
/** While an upstream has this much to read, in bytes, nothing more is sent to it. */
const maxUnreadByUpstream = 64 * 1024 * 1024;
/** How long a client that does not read may hold up the end of its connection, in milliseconds. */
const maxFlushMs = 1000;

export interface ServeStreamOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly principal: Principal;
  readonly log: Log;
  /** Default 4 MiB. A longer message is refused and the connection goes on. */
  readonly maxMessageBytes?: number;
}

export interface StreamServer {
  /** Resolves when the client is gone or `close` was called, and what was written before has been flushed. */
  readonly closed: Promise<void>;
  /** Cancels what is in flight and ends the connection. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Serves one client over a pair of byte streams, a message a line (specification 2026-07-28, basic/transports/stdio).
 * Messages are handled side by side. When the input ends the client is gone and its calls are cancelled; answers
 * that are ready by then still go out. While the output is full nothing more is read. Both streams are ended.
 */
export function serveStream(endpoint: Endpoint, options: ServeStreamOptions): StreamServer {
  const server = new LineServer(endpoint, options);
  return { closed: server.closed, close: () => server.end() };
}

class LineServer {
  readonly closed: Promise<void>;
  readonly #endpoint: Endpoint;
  readonly #options: ServeStreamOptions;
  readonly #writer: LineWriter;
  readonly #exchange: Exchange & { readonly session: Session };
  #resolveClosed: () => void = () => {};
  #over = false;
  #dropped = false;

  constructor(endpoint: Endpoint, options: ServeStreamOptions) {
    const { input, output, principal } = options;
    this.#endpoint = endpoint;
    this.#options = options;
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    this.#writer = new LineWriter(output, () => this.#waitForDrain());
    const session = new Session((notification) => this.#send(encode(notification)));
    // One for all messages: nothing in it differs between them, and they are many.
    this.#exchange = { principal, session, notify: (notification) => this.#notify(notification) };
    output.on("error", (error) => this.#lost(error)).on("close", () => this.#lost());
    readLines(input, {
      maxBytes: options.maxMessageBytes ?? maxClientMessage,
      onLine: (text) => this.#handle(parse(text)),
      onOversized: (limit) => this.#handle({ kind: "invalid", reason: "size", limit }),
      onChunk: () => this.#writer.flush(),
      // A turn later, so that answers which wait for nothing are not lost with the client that only stopped asking.
      onEnd: (error) => void setImmediate(() => this.#lost(error)),
    });
  }

  /** Does it once, whoever asks first. */
  end(): Promise<void> {
    if (this.#over) return this.closed;
    this.#writer.flush();
    this.#over = true;
    this.#endpoint.closed(this.#exchange.session);
    this.#finish();
    return this.closed;
  }

  #handle(incoming: Incoming): void {
    if (this.#over) return;
    const reply = this.#endpoint.handle(incoming, this.#exchange);
    if (reply instanceof Promise) void reply.then(this.#reply);
    else this.#reply(reply);
  }

  readonly #reply = (reply: Reply | undefined): void => {
    if (reply) this.#send(reply.text);
  };

  #notify(notification: JsonRpcNotification): void {
    if (this.#writer.held <= maxUnread) return this.#send(encode(notification));
    if (this.#dropped) return;
    this.#dropped = true;
    this.#options.log("warning", "A client does not read: progress and logs for it are dropped.");
  }

  #send(text: string): void {
    if (!this.#over) this.#writer.write(text);
  }

  #waitForDrain(): void {
    const { input, output } = this.#options;
    if (input.isPaused()) return;
    input.pause();
    output.once("drain", () => input.resume());
  }

  #lost(error?: Error): void {
    if (error && !this.#over) this.#options.log("info", `The client's connection broke: ${error.message}`);
    void this.end();
  }

  #finish(): void {
    const { input, output } = this.#options;
    const done = (): void => {
      clearTimeout(patience);
      input.destroy();
      output.destroy();
      this.#resolveClosed();
    };
    const patience = setTimeout(done, maxFlushMs);
    // Called with an error too, where the output has failed already.
    output.end(done);
  }
}

export interface StreamLinkOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly events: LinkEvents;
  /** Default 32 MiB. A longer message is told as invalid and the link goes on. */
  readonly maxMessageBytes?: number;
}

/**
 * A link to a peer over a pair of byte streams, a message a line. A line that is no message is told as invalid.
 * `close` ends the output and drops what still comes in; whoever opened the streams destroys them. What the peer
 * does not read is held here within a bound, beyond which `send` refuses.
 */
export function streamLink({ input, output, events, maxMessageBytes }: StreamLinkOptions): Link {
  const writer = new LineWriter(output);
  let over = false;
  const lost = (error?: Error): void => {
    if (over) return;
    over = true;
    events.closed(
      new Error(error ? `the connection broke: ${error.message}` : "the other side closed the connection"),
    );
  };
  const receive = (incoming: Incoming): void => {
    if (!over) events.message(incoming);
  };
  output.on("error", lost);
  readLines(input, {
    maxBytes: maxMessageBytes ?? maxUpstreamMessage,
    onLine: (text) => receive(parse(text)),
    onOversized: (limit) => receive({ kind: "invalid", reason: "size", limit }),
    onEnd: lost,
  });
  return {
    send(message) {
      if (over || !output.writable) throw new Error("the connection is closed");
      if (writer.held > maxUnreadByUpstream)
        throw new Error(`it does not read what it is sent: ${writer.held} bytes wait`);
      writer.write(encode(message));
    },
    close() {
      over = true;
      writer.flush();
      output.end();
      return Promise.resolve();
    },
  };
}
