import fc from "fast-check";
import { expect, it } from "vitest";
import { decodeText, imageType } from "./fileContent.ts";

const anyText = fc.string({ unit: "binary" }).filter((text) => !text.includes("\0"));

it("a cut anywhere never splits a character and loses less than one", () => {
  fc.assert(
    fc.property(anyText, fc.nat(), (text, at) => {
      const whole = Buffer.from(text);
      const limit = at % (whole.length + 1);
      const kept = decodeText(whole.subarray(0, limit), { cut: true });
      expect(text.startsWith(kept!)).toBe(true);
      const next = Buffer.byteLength(String.fromCodePoint(text.codePointAt(kept!.length) ?? 0));
      const bytes = Buffer.byteLength(kept!);
      expect(bytes).toBeLessThanOrEqual(limit);
      expect(bytes + next > limit || bytes === whole.length).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

it("text comes back as it is, with a byte order mark", () => {
  expect(decodeText(Buffer.from("\uFEFFnaïve ☃ 𝕏\r\n"), { cut: false })).toBe("\uFEFFnaïve ☃ 𝕏\r\n");
  expect(decodeText(Buffer.alloc(0), { cut: false })).toBe("");
});

it.each([
  { what: "NUL", bytes: [0x61, 0, 0x62] },
  { what: "Latin-1", bytes: [0x63, 0x61, 0x66, 0xe9, 0x21] },
  { what: "an overlong form", bytes: [0xc0, 0xaf] },
  { what: "a surrogate", bytes: [0xed, 0xa0, 0x80] },
])("$what is no text, cut or not", ({ bytes }) => {
  expect(decodeText(Uint8Array.from(bytes), { cut: false })).toBeUndefined();
  expect(decodeText(Uint8Array.from(bytes), { cut: true })).toBeUndefined();
});

it("a character that the end of the file splits is no text", () => {
  expect(decodeText(Buffer.from("☃").subarray(0, 2), { cut: false })).toBeUndefined();
});

it.each([
  { type: "image/png", bytes: Buffer.from("89504e470d0a1a0a0000000d", "hex") },
  { type: "image/jpeg", bytes: Buffer.from("ffd8ffe000104a46", "hex") },
  { type: "image/gif", bytes: Buffer.from("GIF87a\x01\0") },
  { type: "image/gif", bytes: Buffer.from("GIF89a\x01\0") },
  { type: "image/webp", bytes: Buffer.from("RIFF\x0a\0\0\0WEBPVP8 ", "latin1") },
  { type: undefined, bytes: Buffer.from("RIFF\x0a\0\0\0WAVEfmt ", "latin1") },
  { type: undefined, bytes: Buffer.from("89504e47", "hex") },
  { type: undefined, bytes: Buffer.alloc(0) },
])("$type by its first bytes", ({ type, bytes }) => {
  expect(imageType(bytes)).toBe(type);
});
