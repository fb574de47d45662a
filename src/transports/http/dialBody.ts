import type { IncomingMessage } from "node:http";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { parse, type Incoming } from "../../wire/jsonrpc.ts";
import { Pieces } from "../pieces.ts";

/** A body, or one event of a stream, was longer than its bound. The rest was not read. */
export class TooLarge extends Error {
  override readonly name = "TooLarge";
}

export function isEventStream({ headers }: IncomingMessage): boolean {
  return /^\s*text\/event-stream\b/i.test(headers["content-type"] ?? "");
}

/** A whole body as text. Rejects with `TooLarge`, or with an `Error` where the connection broke. */
export async function readText(response: IncomingMessage, maxBytes: number): Promise<string> {
  const body = new Pieces();
  await consume(response, (chunk) => {
    if (body.bytes + chunk.length > maxBytes) throw new TooLarge();
    body.add(chunk);
  });
  return body.text();
}

export interface EventReader {
  readonly maxBytes: number;
  /** What it throws ends the connection, and the reading rejects with it. */
  onEvent(event: EventSourceMessage): void;
  onRetry?(ms: number): void;
}

/** Reads Server-Sent Events to the end of the stream. Comments are skipped. Rejects as `readText` does. */
export async function readEvents(response: IncomingMessage, reader: EventReader): Promise<void> {
  const { maxBytes, onRetry } = reader;
  const lines = new EventLines(maxBytes / lineCost);
  const parser = createParser({
    // Text has at most as many units as bytes: nothing within the bound is refused, and memory stays bounded.
    maxBufferSize: maxBytes,
    onEvent(event) {
      if (event.data.length * 3 > maxBytes && Buffer.byteLength(event.data) > maxBytes) throw new TooLarge();
      reader.onEvent(event);
    },
    onError(error) {
      if (error.type === "max-buffer-size-exceeded") throw new TooLarge();
    },
    ...(onRetry && { onRetry }),
  });
  const decoder = new TextDecoder();
  await consume(response, (chunk) => parser.feed(lines.take(decoder.decode(chunk, { stream: true }))));
}

/** A line of an event counts as this many bytes at least: the parser keeps an object for it. */
const lineCost = 32;

/**
 * What the parser is fed: a line break of whichever kind (WHATWG HTML, section 9.2.5) becomes the one that it finds
 * without looking for the others anew at every line, and the lines of one event are bounded.
 */
class EventLines {
  readonly #max: number;
  #count = 0;
  /** The text before ended with `\r`: a `\n` now belongs to it. */
  #afterReturn = false;
  #atLineStart = true;

  constructor(max: number) {
    this.#max = max;
  }

  /** Throws `TooLarge`. */
  take(text: string): string {
    if (text === "") return "";
    const rest = this.#afterReturn && text.startsWith("\n") ? text.slice(1) : text;
    this.#afterReturn = text.endsWith("\r");
    const plain = rest.includes("\r") ? rest.replace(/\r\n?/g, "\n") : rest;
    this.#countLines(plain);
    return plain;
  }

  /** An empty line ends an event. */
  #countLines(text: string): void {
    let from = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
      this.#count = at === from && this.#atLineStart ? 0 : this.#count + 1;
      this.#atLineStart = true;
      from = at + 1;
    }
    if (from < text.length) this.#atLineStart = false;
    if (this.#count > this.#max) throw new TooLarge();
  }
}

/** Empty events and those of other types than `message` carry no MCP message. */
export function messageIn({ data, event }: EventSourceMessage): Incoming | undefined {
  return data !== "" && (event ?? "message") === "message" ? parse(data) : undefined;
}

/** Feeds each chunk on; what `onChunk` throws ends the connection and rejects. */
function consume(response: IncomingMessage, onChunk: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const cut = (): void => reject(new Error("the connection was cut"));
    // Of what has ended before, nothing more is told.
    if (response.destroyed) return cut();
    response.on("data", (chunk: Buffer) => {
      try {
        onChunk(chunk);
      } catch (error) {
        reject(error as Error);
        response.destroy();
      }
    });
    response.on("end", resolve);
    response.on("error", reject);
    response.on("close", cut);
  });
}
