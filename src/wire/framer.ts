export interface FramerOptions {
  /** The longest line in bytes. What is longer is thrown away up to its newline and reported once. */
  maxBytes: number;
  onLine(text: string): void;
  onOversized(maxBytes: number): void;
  /** UTF-8 to text. Injected because runtimes have faster ways than `TextDecoder`. */
  decode?: (bytes: Uint8Array) => string;
}

const newline = 0x0a;
/** This many pieces of a line are made one, so that a peer that writes byte by byte costs no object for each. */
const maxPieces = 1024;
// A byte order mark stays: it would otherwise depend on how the bytes were split whether it does.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes, split anywhere, to lines. Blank lines are skipped. Holds at most `maxBytes` plus one chunk. */
export class LineFramer {
  readonly #options: FramerOptions;
  readonly #decode: (bytes: Uint8Array) => string;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** How many of `#held`, at its end, are pieces as they came. */
  #pieces = 0;
  #discarding = false;

  constructor(options: FramerOptions) {
    this.#options = options;
    this.#decode = options.decode ?? ((bytes) => decoder.decode(bytes));
  }

  push(chunk: Uint8Array): void {
    const first = chunk.indexOf(newline);
    if (first < 0) return this.#hold(chunk);
    this.#hold(chunk.subarray(0, first));
    this.#finishHeld();
    const last = chunk.lastIndexOf(newline);
    if (last > first) this.#lines(chunk.subarray(first + 1, last));
    if (last + 1 < chunk.length) this.#hold(chunk.subarray(last + 1));
  }

  /** The end of the stream: what has no newline yet counts as a line. */
  end(): void {
    this.#finishHeld();
  }

  #hold(bytes: Uint8Array): void {
    if (this.#discarding || bytes.length === 0) return;
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes <= this.#options.maxBytes) return this.#join();
    this.#takeHeld();
    this.#discarding = true;
    this.#options.onOversized(this.#options.maxBytes);
  }

  #join(): void {
    this.#pieces += 1;
    if (this.#pieces < maxPieces) return;
    this.#held.push(concat(this.#held.splice(-maxPieces)));
    this.#pieces = 0;
  }

  #takeHeld(): Uint8Array[] {
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = this.#pieces = 0;
    return held;
  }

  #finishHeld(): void {
    const held = this.#takeHeld();
    if (this.#discarding) {
      this.#discarding = false;
      return;
    }
    if (held.length > 0) this.#line(this.#decode(held.length === 1 ? held[0]! : concat(held)));
  }

  /** Whole lines: a newline byte is never part of another character, so they are decoded at once. */
  #lines(bytes: Uint8Array): void {
    if (bytes.length <= this.#options.maxBytes) {
      for (const text of this.#decode(bytes).split("\n")) this.#line(text);
      return;
    }
    let from = 0;
    while (from <= bytes.length) {
      const at = bytes.indexOf(newline, from);
      const to = at < 0 ? bytes.length : at;
      this.#hold(bytes.subarray(from, to));
      this.#finishHeld();
      from = to + 1;
    }
  }

  #line(text: string): void {
    // JSON takes a trailing \r as white space, so only blank lines need a look.
    if (text.trim() !== "") this.#options.onLine(text);
  }
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
