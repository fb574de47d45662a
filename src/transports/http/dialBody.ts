import type { IncomingMessage } from "node:http";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { parse, type Incoming } from "../../wire/jsonrpc.ts";

/** A body, or one event of a stream, was longer than its bound. The rest was not read. */
export class TooLarge extends Error {
  override readonly name = "TooLarge";
}

export function isEventStream({ headers }: IncomingMessage): boolean {
  return /^\s*text\/event-stream\b/i.test(headers["content-type"] ?? "");
}

/** A whole body as text. Rejects with `TooLarge`, or with an `Error` where the connection broke. */
export async function readText(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  await consume(response, (chunk) => {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new TooLarge();
    chunks.push(chunk);
  });
  return (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString();
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
  await consume(response, (chunk) => parser.feed(decoder.decode(chunk, { stream: true })));
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
