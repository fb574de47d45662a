import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { classify, encode, isRequestId, parse, resultResponse, RpcError, rpcErrors } from "./jsonrpc.ts";
import type { JsonRpcMessage } from "./jsonrpc.ts";

const shape = { kind: "invalid", reason: "shape" } as const;
const shapeOf = (id: string | number) => ({ ...shape, id });

const valid: [kind: "request" | "notification" | "response", what: string, message: object][] = [
  ["request", "a string id", { jsonrpc: "2.0", id: "a", method: "ping" }],
  ["request", "an empty string id", { jsonrpc: "2.0", id: "", method: "ping" }],
  ["request", "the id 0", { jsonrpc: "2.0", id: 0, method: "ping" }],
  ["request", "a negative id", { jsonrpc: "2.0", id: -7, method: "ping" }],
  ["request", "the largest id", { jsonrpc: "2.0", id: Number.MAX_SAFE_INTEGER, method: "ping" }],
  ["request", "params", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "x" } }],
  ["request", "an unknown member", { jsonrpc: "2.0", id: 1, method: "ping", more: true }],
  ["request", "an empty method", { jsonrpc: "2.0", id: 1, method: "" }],
  ["notification", "no id", { jsonrpc: "2.0", method: "notifications/initialized" }],
  ["notification", "no id, params", { jsonrpc: "2.0", method: "x", params: {} }],
  ["response", "a result", { jsonrpc: "2.0", id: 1, result: {} }],
  ["response", "an error", { jsonrpc: "2.0", id: "a", error: { code: -32600, message: "no" } }],
  ["response", "an error with data", { jsonrpc: "2.0", id: 1, error: { code: 1, message: "", data: [] } }],
  ["response", "an error with a null id", { jsonrpc: "2.0", id: null, error: { code: 1, message: "" } }],
  ["response", "an error without an id", { jsonrpc: "2.0", error: { code: 1, message: "" } }],
];

const wrong: [what: string, value: unknown, expected: object][] = [
  ["a string", "ping", shape],
  ["a number", 1, shape],
  ["null", null, shape],
  ["true", true, shape],
  ["an empty object", {}, shape],
  ["no jsonrpc", { id: 1, method: "ping" }, shapeOf(1)],
  ["jsonrpc 1.0", { jsonrpc: "1.0", id: 1, method: "ping" }, shapeOf(1)],
  ["jsonrpc as a number", { jsonrpc: 2, id: "a", method: "ping" }, shapeOf("a")],
  ["nothing but jsonrpc", { jsonrpc: "2.0" }, shape],
  ["nothing but an id", { jsonrpc: "2.0", id: 1 }, shapeOf(1)],
  ["a method that is a number", { jsonrpc: "2.0", id: 1, method: 1 }, shapeOf(1)],
  ["a method that is null", { jsonrpc: "2.0", id: 1, method: null }, shapeOf(1)],
  ["a null method beside a result", { jsonrpc: "2.0", id: 1, method: null, result: {} }, shapeOf(1)],
  ["a null id", { jsonrpc: "2.0", id: null, method: "ping" }, shape],
  ["a fractional id", { jsonrpc: "2.0", id: 1.5, method: "ping" }, shape],
  ["an id beyond what a number holds", { jsonrpc: "2.0", id: 2 ** 53, method: "ping" }, shape],
  ["an id that is true", { jsonrpc: "2.0", id: true, method: "ping" }, shape],
  ["an id that is an object", { jsonrpc: "2.0", id: {}, method: "ping" }, shape],
  ["an id that is an array", { jsonrpc: "2.0", id: [1], method: "ping" }, shape],
  ["params that are an array", { jsonrpc: "2.0", id: 1, method: "ping", params: [] }, shapeOf(1)],
  ["params that are null", { jsonrpc: "2.0", id: 1, method: "ping", params: null }, shapeOf(1)],
  ["params that are a string", { jsonrpc: "2.0", id: 1, method: "ping", params: "x" }, shapeOf(1)],
  ["a notification with params that are an array", { jsonrpc: "2.0", method: "x", params: [1] }, shape],
  ["a result that is an array", { jsonrpc: "2.0", id: 1, result: [] }, shapeOf(1)],
  ["a result that is null", { jsonrpc: "2.0", id: 1, result: null }, shapeOf(1)],
  ["a result that is a string", { jsonrpc: "2.0", id: 1, result: "ok" }, shapeOf(1)],
  ["a result without an id", { jsonrpc: "2.0", result: {} }, shape],
  ["a result with a null id", { jsonrpc: "2.0", id: null, result: {} }, shape],
  [
    "both result and error",
    { jsonrpc: "2.0", id: 1, result: {}, error: { code: 1, message: "" } },
    shapeOf(1),
  ],
  ["a result beside a null error", { jsonrpc: "2.0", id: 1, result: {}, error: null }, shapeOf(1)],
  ["an error without a code", { jsonrpc: "2.0", id: 1, error: { message: "no" } }, shapeOf(1)],
  [
    "an error with a fractional code",
    { jsonrpc: "2.0", id: 1, error: { code: 0.5, message: "" } },
    shapeOf(1),
  ],
  [
    "an error with a string as code",
    { jsonrpc: "2.0", id: 1, error: { code: "1", message: "" } },
    shapeOf(1),
  ],
  ["an error without a message", { jsonrpc: "2.0", id: 1, error: { code: 1 } }, shapeOf(1)],
  ["an error that is a string", { jsonrpc: "2.0", id: 1, error: "no" }, shapeOf(1)],
  ["an error that is null", { jsonrpc: "2.0", id: 1, error: null }, shapeOf(1)],
  ["an error with a fractional id", { jsonrpc: "2.0", id: 1.5, error: { code: 1, message: "" } }, shape],
  ["an empty batch", [], shape],
];

describe("parse", () => {
  test.each(valid)("takes a %s with %s", (kind, _what, message) => {
    expect(parse(JSON.stringify(message))).toEqual({ kind, message });
  });

  test.each(wrong)("refuses %s", (_what, value, expected) => {
    expect(parse(JSON.stringify(value))).toEqual(expected);
  });

  test.each(["", " ", "{", "nope", '{"jsonrpc":"2.0"}{}', "POST /mcp HTTP/1.1", "\ufeff{}", "[1,]"])(
    "says that %j is not JSON",
    (text) => {
      expect(parse(text)).toEqual({ kind: "invalid", reason: "parse" });
    },
  );

  test("takes a carriage return at the end for white space", () => {
    expect(parse('{"jsonrpc":"2.0","method":"x"}\r')).toMatchObject({ kind: "notification" });
  });

  test("judges each member of a batch by itself, and never an array inside it", () => {
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const note = { jsonrpc: "2.0", method: "x" };
    expect(parse(JSON.stringify([ping, note, 1, [ping], []]))).toEqual({
      kind: "batch",
      messages: [
        { kind: "request", message: ping },
        { kind: "notification", message: note },
        shape,
        shape,
        shape,
      ],
    });
  });

  test("is not misled by members named after the prototype's", () => {
    expect(parse('{"jsonrpc":"2.0","id":1,"__proto__":{"method":"ping"}}')).toEqual(shapeOf(1));
    expect(parse('{"__proto__":{"jsonrpc":"2.0","id":1,"result":{}}}')).toEqual(shape);
  });

  test("survives nesting that no stack could hold", () => {
    const depth = 200_000;
    expect(() => parse("[".repeat(depth))).not.toThrow();
    expect(parse("[".repeat(depth) + "]".repeat(depth)).kind).toMatch(/^(batch|invalid)$/);
  });

  test("refuses a message that could not be written again", () => {
    const message = (depth: number): string =>
      `{"jsonrpc":"2.0","id":1,"result":{"content":[],"deep":${"[".repeat(depth)}1${"]".repeat(depth)}}}`;
    expect(parse(message(510))).toMatchObject({ kind: "response" });
    expect(parse(message(511))).toEqual(shapeOf(1));
    expect(parse(message(200_000))).toEqual(shapeOf(1));
    const note = `{"jsonrpc":"2.0","method":"x","params":${'{"a":'.repeat(512)}1${"}".repeat(513)}`;
    expect(parse(note)).toEqual(shape);
  });

  test("never throws, whatever the text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json()), (text) => {
        expect(["request", "notification", "response", "batch", "invalid"]).toContain(parse(text).kind);
      }),
    );
  });

  test("hands on exactly what is there, or refuses it", () => {
    const anything = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom("2.0", 1, "a", {}));
    const keys = ["jsonrpc", "id", "method", "params", "result", "error"] as const;
    const record = fc.record(Object.fromEntries(keys.map((key) => [key, anything])), { requiredKeys: [] });
    fc.assert(
      fc.property(record, (value) => {
        const incoming = classify(value);
        const { kind } = incoming;
        const isMessage = kind !== "invalid";
        expect(incoming).toMatchObject(isMessage ? { message: value } : { reason: "shape" });
        expect(isMessage && value["jsonrpc"] !== "2.0").toBe(false);
        expect(isMessage && "method" in value === (kind === "response")).toBe(false);
        expect(kind === "request" && !isRequestId(value["id"])).toBe(false);
        expect(kind === "notification" && "id" in value).toBe(false);
        expect(kind === "response" && "result" in value === "error" in value).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });
});

test("a long request or batch tells its length, and nothing else does", () => {
  const request = (junk: string) => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x", params: { junk } });
  const long = request("x".repeat(65_536));
  expect(parse(long)).toHaveProperty("length", long.length);
  expect(parse(`[${long}]`)).toHaveProperty("length", long.length + 2);
  for (const text of [request("x"), `[${request("x")}]`, long.replace('"id":1,', "")])
    expect(parse(text)).not.toHaveProperty("length");
});

describe("encode", () => {
  // JSON has no -0.
  const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
  const object = fc.dictionary(fc.string(), json, { noNullPrototype: true });
  const id = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.maxSafeInteger().map((n) => n + 0),
  );
  const jsonrpc = fc.constant("2.0" as const);
  const error = fc.record(
    { code: fc.integer(), message: fc.string(), data: json },
    { requiredKeys: ["code", "message"] },
  );
  const message: fc.Arbitrary<JsonRpcMessage> = fc.oneof(
    fc.record({ jsonrpc, id, method: fc.string(), params: object }),
    fc.record({ jsonrpc, id, method: fc.string() }),
    fc.record({ jsonrpc, method: fc.string(), params: object }),
    fc.record({ jsonrpc, method: fc.string() }),
    fc.record({ jsonrpc, id, result: object }),
    fc.record({ jsonrpc, id: fc.option(id), error }),
  );

  test("makes one line that parses to the same message", () => {
    fc.assert(
      fc.property(message, (message) => {
        const text = encode(message);
        expect(text).not.toMatch(/[\r\n]/);
        const kind = !("method" in message) ? "response" : "id" in message ? "request" : "notification";
        expect(parse(text)).toEqual({ kind, message });
      }),
    );
  });
});

describe("responses", () => {
  test("a result", () => {
    expect(resultResponse("a", { x: 1 })).toEqual({ jsonrpc: "2.0", id: "a", result: { x: 1 } });
  });

  test("an error, with the id where there is one", () => {
    const error = new RpcError(rpcErrors.invalidParams, "no", { data: { why: "so" }, status: 400 });
    const object = { code: -32602, message: "no", data: { why: "so" } };
    expect(error.toResponse(7)).toEqual({ jsonrpc: "2.0", id: 7, error: object });
    expect(error.toResponse(null)).toEqual({ jsonrpc: "2.0", id: null, error: object });
    expect(error.toResponse(undefined)).toStrictEqual({ jsonrpc: "2.0", error: object });
    expect(error.status).toBe(400);
  });

  test("an error without data says nothing of it, and HTTP calls it 200", () => {
    const error = new RpcError(rpcErrors.internalError, "no");
    expect(error.toResponse(1)).toStrictEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32603, message: "no" },
    });
    expect(error.status).toBe(200);
  });

  test("the codes are those of the specifications", () => {
    expect(rpcErrors).toEqual({
      resourceNotFound: -32002,
      parseError: -32700,
      invalidRequest: -32600,
      methodNotFound: -32601,
      invalidParams: -32602,
      internalError: -32603,
      notInitialized: -32002,
      headerMismatch: -32020,
      missingClientCapability: -32021,
      unsupportedProtocolVersion: -32022,
    });
  });
});
