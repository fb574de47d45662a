import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import type { Check, Validation } from "../core/effects.ts";
import type { JsonObject } from "../core/json.ts";
import { createAjvValidator } from "./ajvValidator.ts";

const draft07 = "http://json-schema.org/draft-07/schema#";

const compile = (schema: JsonObject, trusted = true): Check =>
  createAjvValidator().compile(schema, { trusted });

function run(schema: JsonObject, value: unknown, trusted = true): Validation {
  const result = compile(schema, trusted)(value);
  if (result instanceof Promise) throw new Error("a plain schema is checked synchronously");
  return result;
}

const issuesOf = (schema: JsonObject, value: unknown): string[] => {
  const result = run(schema, value);
  return result.ok ? [] : result.issues.map(({ path, message }) => `${path}: ${message}`);
};

describe("dialects", () => {
  // In 2019-09 and before, an array in `items` is a tuple; in 2020-12 it is not a schema.
  const tuple = { items: [{ type: "string" }] };

  test.each([
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema#",
    "https://json-schema.org/draft/2019-09/schema",
  ])("%s has tuples in items", ($schema) => {
    expect(run({ $schema, ...tuple }, ["a"]).ok).toBe(true);
    expect(run({ $schema, ...tuple }, [1]).ok).toBe(false);
  });

  test.each([undefined, "https://json-schema.org/draft/2020-12/schema"])("%s is 2020-12", ($schema) => {
    const schema = { ...($schema && { $schema }), prefixItems: [{ type: "string" }] };
    expect(run(schema, ["a"]).ok).toBe(true);
    expect(run(schema, [1]).ok).toBe(false);
    expect(() => compile(tuple)).toThrow(
      "it is not a valid schema: /items must be object or boolean, got array",
    );
  });

  test.each(["http://json-schema.org/draft-04/schema#", "constructor", 7])(
    "%s is refused by name",
    ($schema) => {
      expect(() => compile({ $schema })).toThrow(
        `its dialect ($schema) is ${JSON.stringify($schema)}, which is not supported; 2020-12, 2019-09, draft-07 and draft-06 are`,
      );
    },
  );
});

describe("issues", () => {
  const schema: JsonObject = {
    type: "object",
    properties: {
      path: { type: "string" },
      mode: { enum: ["read", "write"] },
      "a/b~c": { type: ["integer", "null"] },
      fixed: { const: 1 },
      never: false,
      names: { propertyNames: { maxLength: 2 } },
    },
    required: ["path"],
    additionalProperties: false,
  };

  test.each([
    [{}, ": must have required property 'path'"],
    [{ path: 5 }, "/path: must be string, got number"],
    [{ path: null }, "/path: must be string, got null"],
    [{ path: [] }, "/path: must be string, got array"],
    [{ path: "", mode: "x" }, '/mode: must be one of "read", "write"'],
    [{ path: "", "a/b~c": "x" }, "/a~1b~0c: must be integer or null, got string"],
    [{ path: "", fixed: 2 }, "/fixed: must be 1"],
    [{ path: "", never: 2 }, "/never: must not be there"],
    [{ path: "", more: 2 }, ": must not have the property 'more'"],
    [
      { path: "", names: { long: 2 } },
      "/names: the property name 'long' must NOT have more than 2 characters",
    ],
  ])("%j", (value, issue) => {
    expect(issuesOf(schema, value)).toContain(issue);
  });

  test("all are told, up to ten, each once", () => {
    expect(issuesOf(schema, { path: 1, mode: 2 })).toHaveLength(2);
    expect(issuesOf({ items: { type: "string" } }, Array(100).fill(0))).toHaveLength(10);
    expect(issuesOf({ allOf: [{ type: "string" }, { type: "string" }] }, 1)).toHaveLength(1);
  });

  test("a value with very many parts is told its first issue only", () => {
    expect(issuesOf({ items: { type: "string" } }, Array(200_000).fill(0))).toEqual([
      "/0: must be string, got number",
    ]);
  });

  test("a long enum is cut", () => {
    const [issue] = issuesOf({ enum: Array.from({ length: 1_000 }, (_, index) => `value ${index}`) }, 1);
    expect(issue).toMatch(/^: must be one of "value 0", .*\.\.\.$/);
    expect(issue!.length).toBeLessThan(600);
  });

  test("properties named like members of Object.prototype are properties", () => {
    expect(issuesOf({ properties: { constructor: { type: "string" } } }, {})).toEqual([]);
    expect(issuesOf({ required: ["toString"] }, {})).toHaveLength(1);
    const args: unknown = JSON.parse('{ "__proto__": 1 }');
    expect(issuesOf({ additionalProperties: false }, args)).toHaveLength(1);
  });
});

describe("values", () => {
  test("pass as they are, without a copy, where there is nothing to fill in", () => {
    const value = { a: 1 };
    expect(run({ type: "object" }, value)).toEqual({ ok: true, value });
    expect((run({ type: "object" }, value) as { value: unknown }).value).toBe(value);
  });

  test("defaults are filled in, on a copy", () => {
    const schema = { properties: { deep: { properties: { n: { default: 5 } } } } };
    const value = { deep: {} };
    expect(run(schema, value)).toEqual({ ok: true, value: { deep: { n: 5 } } });
    expect(value).toEqual({ deep: {} });
    expect(run(schema, value, false)).toEqual({ ok: true, value: { deep: {} } });
  });

  test("nothing is coerced, and formats are not checked", () => {
    expect(run({ properties: { n: { type: "number" } } }, { n: "1" }).ok).toBe(false);
    expect(run({ format: "email" }, "not one").ok).toBe(true);
    expect(run({ format: "no-such-format", "x-unknown": 1 }, "a").ok).toBe(true);
  });

  test("a value that cannot be copied is an issue, not a throw", () => {
    const result = run({ properties: { a: { default: 1 } } }, { b: () => {} });
    expect(result).toMatchObject({
      ok: false,
      issues: [{ message: expect.stringContaining("cannot be checked") }],
    });
  });

  test("a value nested too deeply to walk is an issue, not a throw", () => {
    let value: unknown = [];
    for (let depth = 0; depth < 200_000; depth++) value = [value];
    expect(run({ items: { $ref: "#" } }, value)).toMatchObject({ ok: false });
  });
});

describe("references", () => {
  test("are followed inside the schema", () => {
    const schema = { $defs: { a: { type: "string" } }, properties: { a: { $ref: "#/$defs/a" } } };
    expect(issuesOf(schema, { a: 1 })).toEqual(["/a: must be string, got number"]);
  });

  test.each([true, false])("to elsewhere are refused by name, never fetched (trusted: %s)", (trusted) => {
    expect(() => compile({ $ref: "https://example.com/s.json" }, trusted)).toThrow(
      'its $ref to "https://example.com/s.json" leads nowhere inside it, and nothing outside is fetched',
    );
    expect(() => compile({ $ref: "#/$defs/none" }, trusted)).toThrow('"#/$defs/none"');
  });

  test("to the schema of a dialect are known", () => {
    expect(run({ properties: { s: { $ref: draft07 } }, $schema: draft07 }, { s: { type: 1 } }).ok).toBe(
      false,
    );
  });

  test("equal $ids of different tools do not meet", () => {
    const validator = createAjvValidator();
    const first = validator.compile({ $id: "https://example.com/a", type: "string" }, { trusted: true });
    const second = validator.compile({ $id: "https://example.com/a", type: "number" }, { trusted: true });
    expect(first("a")).toMatchObject({ ok: true });
    expect(second("a")).toMatchObject({ ok: false });
  });
});

test("$async, an extension of ajv, does not turn a refusal into a promise", () => {
  expect(run({ $async: true, type: "string" }, 1).ok).toBe(false);
});

test("a schema that is none is refused with the place", () => {
  expect(() => compile({ properties: { a: { type: "text" } } })).toThrow(
    /it is not a valid schema: \/properties\/a\/type must be one of "array", .*"string"/,
  );
});

describe("an upstream's schema", () => {
  const slow = "^(a+)+$";
  const attack = `${"a".repeat(40)}!`;

  test.each<[string, JsonObject, unknown]>([
    ["pattern", { pattern: slow }, attack],
    ["propertyNames", { propertyNames: { pattern: slow } }, { [attack]: 1 }],
    [
      "patternProperties",
      { patternProperties: { [slow]: {} }, additionalProperties: false },
      { [attack]: 1 },
    ],
    ["a reference into a value", { enum: [{ pattern: slow }, attack], $ref: "#/enum/0" }, attack],
    ["a reference into an unknown keyword", { x: { pattern: slow }, $ref: "#/x" }, attack],
    ["no valid expression", { pattern: "(" }, attack],
  ])("has its regular expressions not run: %s", (_, schema, value) => {
    expect(run(schema, value, false)).toMatchObject({ ok: true });
  });

  test.each<[string, JsonObject, unknown]>([
    ["not", { not: { pattern: "^b" } }, "a"],
    ["oneOf", { oneOf: [{ pattern: "^a" }, { pattern: "^b" }] }, "a"],
    // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
    ["if", { if: { pattern: "^b" }, then: { maxLength: 0 } }, "a"],
    ["contains", { contains: { pattern: "^a" }, maxContains: 1 }, ["a", "b"]],
    ["a reference below not", { not: { $ref: "#/$defs/b" }, $defs: { b: { pattern: "^b" } } }, "a"],
    [
      "patternProperties",
      { patternProperties: { "^x": { type: "number" } }, additionalProperties: { type: "string" } },
      { x: 1, y: "a" },
    ],
    [
      "unevaluatedProperties",
      { allOf: [{ patternProperties: { "^x": {} } }], unevaluatedProperties: false },
      { x: 1 },
    ],
  ])("lets through what only a regular expression could tell: %s", (_, schema, value) => {
    expect(run(schema, value).ok).toBe(true);
    expect(run(schema, value, false)).toMatchObject({ ok: true });
  });

  test("is checked in all else", () => {
    const schema = { properties: { a: { pattern: slow, type: "string" } }, oneOf: [{ required: ["a"] }] };
    expect(run(schema, { a: 1 }, false).ok).toBe(false);
    expect(run(schema, {}, false).ok).toBe(false);
    expect(run({ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 3, false).ok).toBe(false);
    expect(run({ properties: { a: false }, additionalProperties: false }, { pattern: 1 }, false).ok).toBe(
      false,
    );
    expect(run({ enum: [{ $ref: "a" }] }, { $ref: "a" }, false).ok).toBe(true);
  });

  test("is refused when larger than honest ones", () => {
    let deep: JsonObject = {};
    for (let depth = 0; depth < 40; depth++) deep = { properties: { deep } };
    expect(() => compile(deep, false)).toThrow("it is nested more than 64 levels deep");
    expect(() => compile({ enum: Array.from({ length: 6_000 }, (_, index) => index) }, false)).toThrow(
      "it holds more than 5000 values",
    );
  });

  test.each([
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
  ])("cannot make a check run on by references that multiply: %s", ($schema) => {
    const $defs: JsonObject = { d40: { type: "string" } };
    for (let index = 0; index < 40; index++) {
      const next = { $ref: `#/$defs/d${index + 1}` };
      $defs[`d${index}`] = { anyOf: [next, next] };
    }
    expect(run({ $schema, $defs, $ref: "#/$defs/d0" }, 1, false)).toMatchObject({
      ok: false,
      issues: [{ path: "", message: "cannot be checked: its schema takes more than 100000 steps" }],
    });
  });

  test.each([
    ["https://json-schema.org/draft/2020-12/schema", "$ref"],
    ["https://json-schema.org/draft/2020-12/schema", "$dynamicRef"],
    ["https://json-schema.org/draft/2019-09/schema", "$recursiveRef"],
  ])("cannot make a check run on by a reference to itself: %s %s", ($schema, keyword) => {
    const schema = { $schema, anyOf: [{ [keyword]: "#" }] };
    expect(run(schema, 1, false)).toMatchObject({ ok: false });
  });

  test("has its steps counted anew for each check", () => {
    const check = compile({ items: { $ref: "#/$defs/a" }, $defs: { a: { type: "number" } } }, false);
    const value = Array(60_000).fill(1);
    expect([check(value), check(value)]).toMatchObject([{ ok: true }, { ok: true }]);
  });

  test("is not changed", () => {
    const schema = Object.freeze({
      patternProperties: Object.freeze({ "^x": Object.freeze({ $ref: "#/$defs/a" }) }),
      $defs: { a: {} },
    });
    const before = JSON.stringify(schema);
    expect(run(schema, {}, false).ok).toBe(true);
    expect(JSON.stringify(schema)).toBe(before);
  });
});

test("a schema that nobody uses any more is collected", async () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  const validator = createAjvValidator();
  const seen = ((): WeakRef<object>[] =>
    [true, false].flatMap((trusted) => {
      const schema = { $id: "https://example.com/a", properties: { a: { type: "string" } } };
      const check = validator.compile(schema, { trusted });
      expect(check({ a: 1 })).toMatchObject({ ok: false });
      return [new WeakRef(schema), new WeakRef(check)];
    }))();
  // A weak reference holds its target until the job that made it ends.
  await new Promise((resolve) => setImmediate(resolve));
  gc();
  expect(seen.map((ref) => ref.deref())).toEqual([undefined, undefined, undefined, undefined]);
  expect(validator).toBeDefined();
});
