import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { ToolContext } from "./context.ts";
import type { JsonObject } from "./json.ts";
import type { FromJsonSchema } from "./jsonSchemaType.ts";
import { ToolResult } from "./result.ts";
import { defineTool, type StandardSchemaWithJson, type Tool } from "./tool.ts";

const execute = (): string => "done";

describe("a tool from raw JSON Schema", () => {
  const inputSchema = {
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
  } as const;

  test("has its definition in MCP's form, and nothing else in it", () => {
    const tool = defineTool({
      name: "read",
      title: "Read",
      description: "Reads a file.",
      inputSchema,
      outputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      icons: [{ src: "data:," }],
      _meta: { "example.com/a": 1 },
      capabilities: { filesystem: "read" },
      timeoutMs: 5_000,
      execute,
    });
    expect(tool.definition).toEqual({
      name: "read",
      title: "Read",
      description: "Reads a file.",
      inputSchema,
      outputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      icons: [{ src: "data:," }],
      _meta: { "example.com/a": 1 },
    });
    expect(tool).toMatchObject({ name: "read", capabilities: { filesystem: "read" }, timeoutMs: 5_000 });
    expect(tool).not.toHaveProperty("inputStandard");
    expect(tool).not.toHaveProperty("outputStandard");
  });

  test("needs no capabilities unless it says so, and has no time-out of its own", () => {
    const tool = defineTool({ name: "read", inputSchema, execute });
    expect(tool.capabilities).toEqual({});
    expect(tool).not.toHaveProperty("timeoutMs");
    expect(tool.definition).not.toHaveProperty("outputSchema");
  });

  test("runs what it was given", async () => {
    const tool = defineTool({ name: "read", inputSchema, execute: (args) => ToolResult.success(args.path) });
    expect(await tool.execute({ path: "a" }, new ToolContext())).toEqual(ToolResult.success("a"));
  });

  test("says that arguments are an object where the schema does not", () => {
    const tool = defineTool({
      name: "read",
      inputSchema: { oneOf: [{ required: ["a"] }, { required: ["b"] }] },
      execute,
    });
    expect(tool.definition.inputSchema).toEqual({
      type: "object",
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
    });
  });
});

test("a property's schema true or false is listed as an object: clients refuse a list with a boolean there", () => {
  const schema = { type: "object", properties: { a: true, b: false, c: { type: "string" } } } as const;
  const { definition } = defineTool({ name: "read", inputSchema: schema, outputSchema: schema, execute });
  const properties = { a: {}, b: { not: {} }, c: { type: "string" } };
  expect(definition.inputSchema).toEqual({ type: "object", properties });
  expect(definition.outputSchema).toEqual({ type: "object", properties });
});

describe("a tool from a Standard Schema", () => {
  test("lists its JSON Schema side, input for arguments and output for answers, and keeps the library's schema", () => {
    const inputSchema = z.object({ n: z.string().default("1").transform(Number) });
    const outputSchema = z.object({ n: z.string().default("1") });
    const tool = defineTool({ name: "read", inputSchema, outputSchema, execute });
    expect(tool.definition.inputSchema).toEqual({
      type: "object",
      properties: { n: { type: "string", default: "1" } },
    });
    expect(tool.definition.outputSchema).toMatchObject({ type: "object", required: ["n"] });
    expect(tool.inputStandard).toBe(inputSchema);
    expect(tool.outputStandard).toBe(outputSchema);
  });

  test("may be a union of objects", () => {
    const inputSchema = z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("a") }),
      z.object({ kind: z.literal("b") }),
    ]);
    const { definition } = defineTool({ name: "read", inputSchema, execute });
    expect(definition.inputSchema).toMatchObject({
      type: "object",
      oneOf: [{ type: "object" }, { type: "object" }],
    });
  });

  test("may be a function, as ArkType's are", () => {
    const standard: StandardSchemaWithJson<{ a: string }>["~standard"] = {
      version: 1,
      vendor: "test",
      validate: (value) => ({ value: value as { a: string } }),
      jsonSchema: { input: () => ({ type: "object" }), output: () => ({ type: "object" }) },
    };
    const inputSchema = Object.assign(() => {}, { "~standard": standard });
    const tool = defineTool({ name: "read", inputSchema, execute });
    expect(tool.inputStandard).toBe(inputSchema);
    expect(tool.definition.inputSchema).toEqual({ type: "object" });
  });
});

describe("refused, with the name of the tool and what to do", () => {
  const attempt =
    (spec: JsonObject): (() => Tool) =>
    () =>
      defineTool({ name: "read", inputSchema: {}, execute, ...spec });

  test.each<[string, JsonObject, string]>([
    ["no name", { name: "" }, "a tool needs a name that is not empty"],
    [
      "no schema",
      { inputSchema: null },
      'Tool "read": inputSchema must be a JSON Schema object or a Standard Schema.',
    ],
    [
      "a list",
      { outputSchema: [] },
      'Tool "read": outputSchema must be a JSON Schema object or a Standard Schema.',
    ],
    [
      "arguments that are no object",
      { inputSchema: { type: "string" } },
      'inputSchema must be of type "object", since arguments have names; it is "string".',
    ],
    [
      "the same of a library",
      { inputSchema: z.string() },
      'Tool "read": inputSchema must be of type "object"',
    ],
    [
      "a library without a JSON Schema side",
      { inputSchema: v.object({}) },
      'Tool "read": this version of valibot has no JSON Schema side ("~standard.jsonSchema"). Update it, or give inputSchema as raw JSON Schema.',
    ],
    [
      "a type that JSON does not have",
      { inputSchema: z.object({ at: z.date() }) },
      'Tool "read": zod cannot tell inputSchema as JSON Schema: ',
    ],
    ["no execute", { execute: undefined }, 'Tool "read": execute must be a function of the arguments'],
    ["another word for execute", { handler: execute }, 'Tool "read": there is no member "handler"'],
    [
      "another word for timeoutMs",
      { timeout: 5 },
      'there is no member "timeout". Those that there are: name, title, description, inputSchema, outputSchema, annotations, capabilities, timeoutMs, icons, _meta, execute.',
    ],
    ["a misspelt schema", { inputShema: {} }, 'there is no member "inputShema"'],
    [
      "a shape of fields",
      { inputSchema: { a: z.string() } },
      'Tool "read": inputSchema looks like a shape of schema fields: wrap it in z.object({...}).',
    ],
    ["a shape with a field type", { inputSchema: { type: z.string() } }, "inputSchema looks like a shape"],
    ["a shape for the answer", { outputSchema: { a: z.string() } }, "outputSchema looks like a shape"],
    [
      "required as text",
      { inputSchema: { required: "a" } },
      'Tool "read": inputSchema has a "required" that is no array of names.',
    ],
    ["required numbers", { outputSchema: { required: [1] } }, 'outputSchema has a "required"'],
    [
      "a list of properties",
      { inputSchema: { properties: [] } },
      'inputSchema has "properties" that are no object.',
    ],
    [
      "a property that is a type's name",
      { inputSchema: { properties: { a: "string" } } },
      'inputSchema has a property "a" that is no schema.',
    ],
  ])("%s", (_, spec, message) => {
    expect(attempt(spec)).toThrow(TypeError);
    expect(attempt(spec)).toThrow(message);
  });
});

describe("types", () => {
  test("of arguments come from a raw schema written in place", () => {
    const tool = defineTool({
      name: "read",
      inputSchema: {
        type: "object",
        properties: {
          path: { type: "string" },
          mode: { enum: ["text", "binary"] },
          lines: { type: "array", items: { type: "integer" } },
          options: { type: "object", properties: { deep: { type: "boolean" } }, required: ["deep"] },
          version: { const: 2 },
          nothing: { type: "null" },
          more: { type: "object" },
          list: { type: "array" },
          other: { anyOf: [{ type: "string" }] },
          any: true,
        },
        required: ["path", "mode"],
      },
      execute(args, ctx) {
        expectTypeOf(args).toEqualTypeOf<{
          path: string;
          mode: "text" | "binary";
          lines?: number[];
          options?: { deep: boolean };
          version?: 2;
          nothing?: null;
          more?: JsonObject;
          list?: unknown[];
          other?: unknown;
          any?: unknown;
        }>();
        expectTypeOf(ctx).toEqualTypeOf<ToolContext>();
        return "done";
      },
    });
    expectTypeOf(tool).toEqualTypeOf<Tool>();
  });

  test("of arguments from a schema without required members, or without members, or not written in place", () => {
    expectTypeOf<FromJsonSchema<{ type: "object"; properties: { a: { type: "number" } } }>>().toEqualTypeOf<{
      a?: number;
    }>();
    expectTypeOf<FromJsonSchema<{ type: "object" }>>().toEqualTypeOf<JsonObject>();
    expectTypeOf<FromJsonSchema<JsonObject>>().toEqualTypeOf<JsonObject>();
  });

  test("of arguments come from a Standard Schema's output", () => {
    const tool = defineTool({
      name: "read",
      inputSchema: z.object({ n: z.string().transform(Number), s: z.string().optional() }),
      execute(args) {
        expectTypeOf(args).toEqualTypeOf<{ n: number; s?: string | undefined }>();
        return ToolResult.success(String(args.n));
      },
    });
    expectTypeOf(tool).toEqualTypeOf<Tool>();
  });

  test("of answers: a string or a result, sooner or later", () => {
    type Answer = ReturnType<Tool["execute"]>;
    expectTypeOf<string>().toExtend<Answer>();
    expectTypeOf<Promise<ToolResult>>().toExtend<Answer>();
    expectTypeOf<number>().not.toExtend<Answer>();
    expectTypeOf<{ text: string }>().not.toExtend<Answer>();
  });
});
