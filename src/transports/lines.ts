import type { Readable, Writable } from "node:stream";
import { LineFramer } from "../wire/framer.ts";

/** What is gathered goes out at this length (UTF-16 units): a string has an end, and one turn may bring many answers. */
const maxGathered = 1024 * 1024;

/**
 * Lines out, gathered: what is written in one turn of the event loop, or before `flush`, goes out in one piece.
 * A stream that has failed or ended takes nothing more; whoever owns it learns that from the stream.
 */
export class LineWriter {
  readonly #output: Writable;
  readonly #onFull: (() => void) | undefined;
  #pending = "";
  #scheduled = false;

  /** `onFull` is called when the output holds more than its high-water mark. */
  constructor(output: Writable, onFull?: () => void) {
    this.#output = output;
    this.#onFull = onFull;
  }

  /** What has been written and not been taken yet, in bytes or characters: for bounds, not for counting. */
  get held(): number {
    return this.#pending.length + this.#output.writableLength;
  }

  write(text: string): void {
    this.#pending += text + "\n";
    if (this.#pending.length > maxGathered) return this.flush();
    if (this.#scheduled) return;
    this.#scheduled = true;
    // After the microtasks: replies that come from promises which settle together go out together.
    process.nextTick(flushOf, this);
  }

  flush(): void {
    this.#scheduled = false;
    const text = this.#pending;
    if (text === "") return;
    this.#pending = "";
    if (this.#output.writable && !this.#output.write(text)) this.#onFull?.();
  }
}

const flushOf = (writer: LineWriter): void => writer.flush();

export interface LineReaderOptions {
  /** Asked anew for every piece of a line that comes in. */
  maxBytes(): number;
  onLine(text: string): void;
  onOversized(maxBytes: number): void;
  /** All lines of one chunk have been told. */
  onChunk?(): void;
  /** No more lines will come. Called once; `error` is there unless the stream ended in order. */
  onEnd(error?: Error): void;
}

/** Reads lines until the stream ends, fails or is destroyed. */
export function readLines(input: Readable, options: LineReaderOptions): void {
  const framer = new LineFramer({
    get maxBytes() {
      return options.maxBytes();
    },
    onLine: options.onLine,
    onOversized: options.onOversized,
    decode,
  });
  let ended = false;
  const end = (error?: Error): void => {
    if (ended) return;
    ended = true;
    framer.end();
    options.onEnd(error);
  };
  input.on("data", (chunk: Uint8Array) => {
    framer.push(chunk);
    options.onChunk?.();
  });
  input.on("end", end).on("error", end).on("close", end);
}

const decode = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
