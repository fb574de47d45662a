import type { Readable, Writable } from "node:stream";
import type { Log } from "../core/effects.ts";
import type { Principal } from "../core/principal.ts";
import type { Endpoint } from "../wire/endpoint.ts";
import { encode, parse, type Incoming } from "../wire/jsonrpc.ts";
import type { Link, LinkEvents } from "../wire/link.ts";
import { LineWriter, readLines } from "./lines.ts";
import { MessageServer, openTo, type Gate } from "./messageServer.ts";

/** What a client may send in one message, in bytes. */
const maxClientMessage = 4 * 1024 * 1024;
/** What an upstream may send in one message, in bytes. */
const maxUpstreamMessage = 32 * 1024 * 1024;
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
  return serveLines(endpoint, { ...options, gate: openTo(options.principal) });
}

export interface ServeLinesOptions extends Omit<ServeStreamOptions, "principal"> {
  readonly gate: Gate;
  /** What a client may send in its first message, in bytes. Default: as in any other. */
  readonly maxFirstBytes?: number;
}

/** As `serveStream`; who the client is says its first message. */
export function serveLines(endpoint: Endpoint, options: ServeLinesOptions): StreamServer {
  const { input, output, gate, log, maxMessageBytes = maxClientMessage } = options;
  const { maxFirstBytes = maxMessageBytes } = options;
  const writer = new LineWriter(output, () => pauseUntilDrained(input, output));
  const end = (): Promise<void> => {
    writer.flush();
    return endStreams(input, output);
  };
  const server = new MessageServer(endpoint, { gate, log, writer, end });
  output.on("error", (error) => server.lost(error)).on("close", () => server.lost());
  readLines(input, {
    maxBytes: () => (server.admitted ? maxMessageBytes : maxFirstBytes),
    onLine: (text) => server.receive(parse(text)),
    onOversized: (limit) => server.receive({ kind: "invalid", reason: "size", limit }),
    onChunk: () => writer.flush(),
    // A turn later, so that answers which wait for nothing are not lost with the client that only stopped asking.
    onEnd: (error) => void setImmediate(() => server.lost(error)),
  });
  return server;
}

function pauseUntilDrained(input: Readable, output: Writable): void {
  if (input.isPaused()) return;
  input.pause();
  output.once("drain", () => input.resume());
}

function endStreams(input: Readable, output: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(patience);
      input.destroy();
      output.destroy();
      resolve();
    };
    const patience = setTimeout(done, maxFlushMs);
    // Called with an error too, where the output has failed already.
    output.end(done);
  });
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
    maxBytes: () => maxMessageBytes ?? maxUpstreamMessage,
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
