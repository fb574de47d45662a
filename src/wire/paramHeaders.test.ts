import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeHeader } from "./protocol.ts";
import { paramHeaders, paramHeaderValues } from "./paramHeaders.ts";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const text = (mark: unknown, type: unknown = "string") => ({ type, "x-mcp-header": mark });

test("finds marks at any depth of properties, and reads their values", () => {
  const headers = paramHeaders(
    object({
      region: text("Region"),
      where: object({ shard: text("Shard", "integer"), dry: text("Dry", ["boolean", "null"]) }),
      "x-mcp-header": { type: "object" },
    }),
  );
  if (typeof headers === "string") throw new Error(headers);
  expect(headers).toHaveLength(3);
  expect(paramHeaderValues(headers, { region: "eu", where: { shard: -7, dry: false } })).toEqual({
    "Mcp-Param-Region": "eu",
    "Mcp-Param-Shard": "-7",
    "Mcp-Param-Dry": "false",
  });
  expect(paramHeaderValues(headers, { region: null, where: { shard: 1.5, dry: {} } })).toEqual({});
  expect(paramHeaderValues(headers, { where: [1] })).toEqual({});
});

test.each([
  ["an empty name", object({ a: text("") })],
  ["a name that is no token", object({ a: text("a:b") })],
  ["a name with a line break", object({ a: text("a\r\nb") })],
  ["no string", object({ a: text(1) })],
  ["the same name in another case", object({ a: text("Same"), b: text("same") })],
  ["a number", object({ a: text("A", "number") })],
  ["an object", object({ a: text("A", "object") })],
  ["no type", object({ a: { "x-mcp-header": "A" } })],
  ["the root", { ...object({}), "x-mcp-header": "A" }],
  ["array items", object({ a: { type: "array", items: text("A") } })],
  ["oneOf", object({}, { oneOf: [object({ a: text("A") })] })],
  ["not", object({}, { not: text("A") })],
  ["if", object({}, { if: object({ a: text("A") }) })],
  ["$defs", object({}, { $defs: { a: text("A") } })],
])("refuses a mark on or with %s", (_, schema) => {
  expect(paramHeaders(schema)).toMatch(/x-mcp-header/);
});

test("data that looks like a mark is none", () => {
  const data = { "x-mcp-header": "A" };
  expect(
    paramHeaders(object({ a: { type: "object", default: data, examples: [data], const: data } })),
  ).toEqual([]);
});

test("any text survives the way through a header; its own property only is read", () => {
  const headers = [{ header: "Mcp-Param-A", path: ["a"] }];
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (value) => {
      const sent = paramHeaderValues(headers, { a: value })["Mcp-Param-A"]!;
      expect(sent).toMatch(/^[\x20-\x7e\t]*$/);
      expect(decodeHeader(sent)).toBe(value);
    }),
  );
  expect(paramHeaderValues([{ header: "X", path: ["constructor", "name"] }], {})).toEqual({});
});
