import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonBytes, mayExceed, utf8Bytes } from "./byteSize.ts";

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.constantFrom("\ud800", "\udc00", "a", "€", "😀")).map((parts) => parts.join("")),
);

test("utf8Bytes counts what an encoder makes, lone surrogates included", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(utf8Bytes(text)).toBe(new TextEncoder().encode(text).length);
    }),
  );
});

test("mayExceed never says no to a value that exceeds", () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), anyText), (value) => {
      expect(mayExceed(value, jsonBytes(value) - 1)).toBe(true);
    }),
  );
});

test("mayExceed is sure of nothing that has no JSON or makes its own", () => {
  for (const value of [1n, { a: [1n] }, { toJSON: () => "x".repeat(100) }])
    expect(mayExceed(value, 1_000)).toBe(true);
});

test("mayExceed ends on a value that holds itself", () => {
  const loop: { self?: unknown } = {};
  loop.self = loop;
  expect(mayExceed(loop, 10_000)).toBe(true);
});
