import fc from "fast-check";
import { expect, test } from "vitest";
import { Pieces } from "./pieces.ts";

test("what was added is one text, wherever it was split", () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 3_000 });
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1 }), sizes, (unit, lengths) => {
      const bytes = Buffer.from(unit.repeat(500));
      const pieces = new Pieces();
      let at = 0;
      for (const length of [...lengths, bytes.length]) {
        pieces.add(bytes.subarray(at, at + length));
        at = Math.min(at + length, bytes.length);
      }
      expect(pieces.bytes).toBe(bytes.length);
      expect(pieces.text()).toBe(bytes.toString());
    }),
    { numRuns: 30 },
  );
});

test("many small pieces are not kept as they came: each would hold an object, and more memory than it has bytes", () => {
  const pieces = new Pieces();
  const all = Array.from({ length: 1024 }, () => Buffer.from("a"));
  for (const piece of all) pieces.add(piece);
  for (const piece of all) piece.fill("b");
  expect(pieces.text()).toBe("a".repeat(1024));
});
