import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decodeHeader,
  encodeHeader,
  eraOf,
  metaKeys,
  metaOf,
  supportedVersions,
  type Era,
} from "./protocol.ts";

const call = (method: string, meta?: unknown) =>
  ({ jsonrpc: "2.0", id: 1, method, ...(meta !== undefined && { params: { _meta: meta } }) }) as const;
const version = (value: unknown) => ({ [metaKeys.protocolVersion]: value });

test("the revisions, newest first", () => {
  expect(supportedVersions).toEqual(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
});

describe("eraOf", () => {
  const cases: [Era, string, { method: string; meta?: unknown; header?: string }][] = [
    ["modern", "_meta names our revision", { method: "tools/list", meta: version("2026-07-28") }],
    ["modern", "_meta names an unknown revision", { method: "tools/list", meta: version("1999-01-01") }],
    ["modern", "_meta names a legacy revision", { method: "tools/list", meta: version("2025-11-25") }],
    ["modern", "_meta names no string", { method: "tools/list", meta: version(null) }],
    [
      "modern",
      "_meta wins over a legacy header",
      { method: "x", meta: version("2026-07-28"), header: "2025-11-25" },
    ],
    ["modern", "the header names our revision", { method: "tools/list", header: "2026-07-28" }],
    ["modern", "the header names a later one", { method: "tools/list", header: "2027-01-01" }],
    ["modern", "server/discover", { method: "server/discover" }],
    ["modern", "server/discover with a legacy header", { method: "server/discover", header: "2025-06-18" }],
    ["modern", "subscriptions/listen", { method: "subscriptions/listen" }],
    ["legacy", "nothing says otherwise", { method: "tools/list" }],
    ["legacy", "initialize", { method: "initialize", meta: {} }],
    ["legacy", "the header names a legacy revision", { method: "tools/list", header: "2025-11-25" }],
    [
      "legacy",
      "the header names a date before the modern era",
      { method: "tools/list", header: "2026-07-27" },
    ],
    ["legacy", "the header is no revision", { method: "tools/list", header: "latest" }],
    ["legacy", "the header only begins like one", { method: "tools/list", header: "2026-07-28x" }],
    ["legacy", "the header is empty", { method: "tools/list", header: "" }],
    ["legacy", "_meta has other keys only", { method: "tools/call", meta: { progressToken: 1 } }],
    ["legacy", "_meta is no object", { method: "tools/call", meta: "2026-07-28" }],
    ["legacy", "_meta is null", { method: "tools/call", meta: null }],
  ];

  test.each(cases)("%s: %s", (era, _why, { method, meta, header }) => {
    const headers = (name: string) => (name === "mcp-protocol-version" ? header : undefined);
    expect(eraOf(call(method, meta), headers)).toBe(era);
    // A door without headers gives none to read.
    expect(eraOf(call(method, meta), header === undefined ? undefined : headers)).toBe(era);
  });
});

describe("metaOf", () => {
  test("is params._meta, and empty for anything else", () => {
    expect(metaOf(call("x", { a: 1 }))).toEqual({ a: 1 });
    for (const meta of [undefined, null, [], "x", 1]) expect(metaOf(call("x", meta))).toEqual({});
  });
});

describe("header values", () => {
  // Specification 2026-07-28, Streamable HTTP, Value Encoding.
  const examples: [string, string][] = [
    ["us-west1", "us-west1"],
    ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
    ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
  ];

  test.each(examples)("%j goes as %s", (value, header) => {
    expect(encodeHeader(value)).toBe(header);
    expect(decodeHeader(header)).toBe(value);
  });

  test("the shortest value with the marks at both ends is encoded, though its marks overlap", () => {
    expect(encodeHeader("=?base64?=")).toMatch(/^=\?base64\?.+\?=$/);
    expect(decodeHeader(encodeHeader("=?base64?="))).toBe("=?base64?=");
  });

  test("a value far longer than a call has arguments", () => {
    const value = "é".repeat(300_000);
    expect(decodeHeader(encodeHeader(value))).toBe(value);
  });

  test("any value comes back, and is one a header can carry", () => {
    const value = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "grapheme-ascii" }),
      fc.constantFrom(
        "",
        " ",
        "\t",
        "\ufeff",
        "\ufeffx",
        "a b",
        "a\tb",
        "\u007f",
        "=?base64?",
        "?=",
        "=?base64??=",
      ),
    );
    fc.assert(
      fc.property(value, (value) => {
        const header = encodeHeader(value);
        expect(header).toMatch(/^([\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?)?$/);
        expect(decodeHeader(header)).toBe(value);
      }),
    );
  });

  test.each(["SGVsbG8=", "=?base64?SGVsbG8=", "SGVsbG8=?=", "=?BASE64?SGVsbG8=?=", "", "=?base64?="])(
    "%j is not marked as encoded and means itself",
    (value) => {
      expect(decodeHeader(value)).toBe(value);
    },
  );

  test.each([
    ["missing padding", "=?base64?SGVsbG8?="],
    ["foreign characters", "=?base64?SGVs!!!bG8=?="],
    ["a space inside", "=?base64?SGVs bG8=?="],
    ["padding in the middle", "=?base64?SG==bG8=?="],
    ["the URL alphabet", "=?base64?_-_-?="],
    ["one character", "=?base64?S?="],
    ["bytes that are no UTF-8", "=?base64?/w==?="],
    ["a letter beyond ASCII", "\u00e9"],
    ["a control character", "a\u0001"],
  ])("%s is refused", (_what, value) => {
    expect(decodeHeader(value)).toBeUndefined();
  });
});
