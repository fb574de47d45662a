import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LineFramer } from "./framer.ts";

interface Seen {
  lines: string[];
  oversized: number[];
  /** The largest number of bytes that was turned into text at once. */
  largest: number;
}

const utf8 = new TextEncoder();
const lossless = new TextDecoder("utf-8", { ignoreBOM: true });

function feed(chunks: readonly Uint8Array[], { maxBytes = 1_000_000, own = false } = {}): Seen {
  const seen: Seen = { lines: [], oversized: [], largest: 0 };
  const framer = new LineFramer({
    maxBytes,
    onLine: (text) => seen.lines.push(text),
    onOversized: (limit) => seen.oversized.push(limit),
    ...(!own && {
      decode: (bytes) => {
        seen.largest = Math.max(seen.largest, bytes.length);
        return lossless.decode(bytes);
      },
    }),
  });
  for (const chunk of chunks) framer.push(chunk);
  framer.end();
  return seen;
}

/** `bytes` in pieces of the given lengths; what is left is the last piece. */
function split(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let at = 0;
  for (const length of lengths) {
    chunks.push(bytes.slice(at, at + length));
    at += length;
  }
  return [...chunks, bytes.slice(at)];
}

const notBlank = (line: string): boolean => line.trim() !== "";

const piece = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom("\n", "\r\n", "\n\n", " \n", "é", "世界", "🙂", "\ufeff", '{"a":1}\n'),
);
const text = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(""));
const lengths = fc.array(fc.nat({ max: 9 }), { maxLength: 60 });

describe("LineFramer", () => {
  test("gives the same lines however the bytes are split", () => {
    fc.assert(
      fc.property(text, lengths, fc.boolean(), (text, lengths, own) => {
        const { lines, oversized } = feed(split(utf8.encode(text), lengths), { own });
        expect(lines).toEqual(text.split("\n").filter(notBlank));
        expect(oversized).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  test("gives the same lines for bytes that are no UTF-8, too", () => {
    const byte = fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0x0a, 0xc3, 0xe4, 0xf0, 0x9f));
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 60 }), lengths, (bytes, lengths) => {
        const whole = Uint8Array.from(bytes);
        expect(feed(split(whole, lengths)).lines).toEqual(feed([whole]).lines);
      }),
    );
  });

  test("cuts a character in two without harm", () => {
    const bytes = utf8.encode("🙂\n世\n");
    expect(feed([...bytes].map((byte) => Uint8Array.of(byte))).lines).toEqual(["🙂", "世"]);
  });

  test("puts a line together that comes in thousands of pieces", () => {
    const line = "0123456789é".repeat(500);
    const bytes = [...utf8.encode(`${line}\n${line}`)].map((byte) => Uint8Array.of(byte));
    expect(feed(bytes).lines).toEqual([line, line]);
  });

  test("leaves a carriage return to the parser and skips blank lines", () => {
    expect(feed([utf8.encode("\r\n\n {}\r\n\t\n[]\n")]).lines).toEqual([" {}\r", "[]"]);
  });

  test("counts what has no newline at the end as a line", () => {
    expect(feed([utf8.encode("a\nb")]).lines).toEqual(["a", "b"]);
    expect(feed([utf8.encode("b"), utf8.encode("c")]).lines).toEqual(["bc"]);
    expect(feed([]).lines).toEqual([]);
  });

  test("keeps a byte order mark, wherever in a chunk it stands", () => {
    const bytes = utf8.encode("a\n\ufeffb\n\ufeffc\n");
    for (const own of [true, false]) {
      expect(feed([bytes], { own }).lines).toEqual(["a", "\ufeffb", "\ufeffc"]);
      expect(feed(split(bytes, [2, 5]), { own }).lines).toEqual(["a", "\ufeffb", "\ufeffc"]);
    }
  });

  test("takes a line of exactly the limit and reports one byte more", () => {
    expect(feed([utf8.encode("12345\nx\n")], { maxBytes: 5 })).toMatchObject({
      lines: ["12345", "x"],
      oversized: [],
    });
    expect(feed([utf8.encode("123456\nx\n")], { maxBytes: 5 })).toMatchObject({
      lines: ["x"],
      oversized: [5],
    });
    expect(feed([utf8.encode("ééé\nx")], { maxBytes: 5 })).toMatchObject({ lines: ["x"], oversized: [5] });
  });

  test("reports a line that is too long as soon as it is, not at its end", () => {
    const oversized: number[] = [];
    const framer = new LineFramer({ maxBytes: 4, onLine: () => {}, onOversized: (n) => oversized.push(n) });
    framer.push(utf8.encode("1234"));
    expect(oversized).toEqual([]);
    framer.push(utf8.encode("5"));
    expect(oversized).toEqual([4]);
    framer.push(utf8.encode("678901234567890"));
    framer.end();
    expect(oversized).toEqual([4]);
  });

  test("reports each line over the limit once, keeps the others, and never turns more than the limit into text", () => {
    const limits = fc.integer({ min: 1, max: 12 });
    fc.assert(
      fc.property(text, lengths, limits, (text, lengths, maxBytes) => {
        const tooLong = (line: string): boolean => utf8.encode(line).length > maxBytes;
        const all = text.split("\n");
        const seen = feed(split(utf8.encode(text), lengths), { maxBytes });
        expect(seen.lines).toEqual(all.filter((line) => !tooLong(line) && notBlank(line)));
        expect(seen.oversized).toEqual(all.filter(tooLong).map(() => maxBytes));
        expect(seen.largest).toBeLessThanOrEqual(maxBytes);
      }),
      { numRuns: 1_000 },
    );
  });
});
