import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { recordings } from "../../../test/support/recordings.ts";
import type { JsonObject } from "../../core/json.ts";
import { mendDefinition } from "./mendDefinition.ts";

const fine: JsonObject = {
  name: "t",
  title: "T",
  description: "",
  inputSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { a: { type: "string" }, b: {} },
    required: ["a"],
    additionalProperties: false,
  },
  outputSchema: { type: "array", items: true },
  annotations: { title: "A", readOnlyHint: false, "x-hint": 1 },
  icons: [{ src: "data:,", mimeType: "image/png", sizes: ["any"], theme: "dark", "x-size": 1 }],
  execution: { taskSupport: "optional" },
  _meta: { "a/b": null },
  "x-vendor": null,
};

const bare = { name: "t", inputSchema: { type: "object" } };

test.each([[fine], [bare], [{ ...bare, icons: [], annotations: {}, _meta: {}, execution: {} }]])(
  "a definition without faults is returned as it is: %j",
  (tool) => {
    const before = structuredClone(tool);
    const result = mendDefinition(tool);
    expect(result).toEqual({ definition: before, mended: [] });
    expect("definition" in result && result.definition).toBe(tool);
  },
);

test.each<[string, unknown]>([
  ["title", null],
  ["title", 7],
  ["description", null],
  ["description", ["a"]],
  ["annotations", null],
  ["annotations", "safe"],
  ["annotations", []],
  ["icons", "x"],
  ["icons", { src: "data:," }],
  ["execution", "task"],
  ["execution", { taskSupport: "perhaps" }],
  ["execution", { taskSupport: null }],
  ["outputSchema", null],
  ["outputSchema", "object"],
  ["outputSchema", { type: "object", required: "a" }],
  ["outputSchema", { type: "object", properties: { a: 7 } }],
  ["_meta", "x"],
  ["_meta", null],
])("%s: %j is left out, and all else stays", (member, wrong) => {
  const { [member]: _, ...rest } = fine;
  const tool = { ...fine, [member]: wrong };
  expect(mendDefinition(tool)).toEqual({ definition: rest, mended: [member] });
  expect(tool[member]).toBe(wrong);
});

test.each(["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"])(
  "annotations lose a %s of the wrong type, and nothing else",
  (hint) => {
    const right = { title: "A", readOnlyHint: true, destructiveHint: true, idempotentHint: true };
    const all: JsonObject = { ...right, openWorldHint: true, "x-hint": "yes" };
    const { [hint]: _, ...rest } = all;
    expect(mendDefinition({ ...bare, annotations: { ...all, [hint]: 1 } })).toEqual({
      definition: { ...bare, annotations: rest },
      mended: ["annotations"],
    });
  },
);

test.each([
  { mimeType: "image/png" },
  { src: 7 },
  { src: "data:,", mimeType: 7 },
  { src: "data:,", sizes: "48x48" },
  { src: "data:,", sizes: [48] },
  { src: "data:,", theme: "blue" },
  "data:,",
  null,
])("of the icons only this one is left out: %j", (icon) => {
  const good = { src: "data:,", sizes: ["any"] };
  expect(mendDefinition({ ...bare, icons: [icon, good] })).toEqual({
    definition: { ...bare, icons: [good] },
    mended: ["icons"],
  });
});

test.each<[JsonObject, JsonObject]>([
  [{}, { type: "object" }],
  [
    { type: null, required: ["a"] },
    { type: "object", required: ["a"] },
  ],
  [{ oneOf: [{}] }, { type: "object", oneOf: [{}] }],
  [{ type: "object", required: null }, { type: "object" }],
  [{ type: "object", required: {} }, { type: "object" }],
  [{ type: "object", required: false }, { type: "object" }],
  [
    { type: "object", properties: null, "x-a": 1 },
    { type: "object", "x-a": 1 },
  ],
  [{ type: "object", properties: [] }, { type: "object" }],
  [{ type: "object", $schema: 7 }, { type: "object" }],
  [
    { type: "object", properties: { a: true, b: false, c: null, d: [], e: { type: "null" } } },
    { type: "object", properties: { a: {}, b: { not: {} }, c: {}, d: {}, e: { type: "null" } } },
  ],
])("an input schema whose meaning is clear is mended: %j", (inputSchema, right) => {
  expect(mendDefinition({ name: "t", inputSchema })).toEqual({
    definition: { name: "t", inputSchema: right },
    mended: ["inputSchema"],
  });
});

test("a property named __proto__ stays a property", () => {
  const inputSchema = JSON.parse('{"type":"object","properties":{"__proto__":true,"a":null}}') as JsonObject;
  expect(JSON.stringify(mendDefinition({ name: "t", inputSchema }))).toContain(
    '"properties":{"__proto__":{},"a":{}}',
  );
});

test.each<[unknown, string]>([
  [undefined, "its inputSchema is no object"],
  [[], "its inputSchema is no object"],
  [{ type: "array" }, 'its inputSchema is of type "array", but arguments are an object'],
  [{ type: ["object", "null"] }, 'its inputSchema is of type ["object","null"], but arguments are an object'],
  [{ type: "object", required: "a" }, 'its inputSchema has a "required" that is no array of names'],
  [{ type: "object", required: [1] }, 'its inputSchema has a "required" that is no array of names'],
  [{ type: "object", properties: "a" }, 'its inputSchema has "properties" that are no object'],
  [{ type: "object", properties: ["a"] }, 'its inputSchema has "properties" that are no object'],
  [{ properties: { a: "string" } }, 'its inputSchema has a property "a" that is no schema'],
])("an input schema that can mean anything is refused: %j", (inputSchema, refused) => {
  expect(mendDefinition({ name: "t", inputSchema })).toEqual({ refused });
});

describe("any definition", () => {
  const members = Object.keys(fine).filter((key) => key !== "name");
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.record(
      { type: fc.jsonValue(), required: fc.jsonValue(), properties: fc.jsonValue() },
      { requiredKeys: [] },
    ),
  );
  const tools = fc
    .record(Object.fromEntries(members.map((key) => [key, odd])), { requiredKeys: [] })
    .map((some): JsonObject => ({ ...fine, ...some }));

  test("is mended once and for all, and its argument is not touched", () => {
    fc.assert(
      fc.property(tools, (tool) => {
        const before = structuredClone(tool);
        const result = mendDefinition(tool);
        expect(tool).toEqual(before);
        if ("refused" in result) return;
        const again = mendDefinition(result.definition);
        expect("definition" in again && again.definition).toBe(result.definition);
        expect(result.definition["x-vendor"]).toBe(tool["x-vendor"]);
      }),
    );
  });
});

test("no recorded definition of a real server is changed", ({ skip }) => {
  const definitions = recordings(skip).flatMap((one) => one.tools);
  expect(definitions.length).toBeGreaterThan(1_000);
  const changed = definitions.filter((tool) => {
    const result = mendDefinition(tool);
    return "refused" in result || result.definition !== tool;
  });
  expect(changed).toEqual([]);
});
