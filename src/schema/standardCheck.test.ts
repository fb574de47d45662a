import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { standardCheck } from "./standardCheck.ts";

const schemaOf = (validate: StandardSchemaV1["~standard"]["validate"]): StandardSchemaV1 => ({
  "~standard": { version: 1, vendor: "test", validate },
});

describe.each<[string, StandardSchemaV1]>([
  [
    "zod",
    z.object({
      n: z.number().default(5),
      s: z
        .string()
        .transform((text) => text.length)
        .optional(),
    }),
  ],
  [
    "valibot",
    v.object({
      n: v.optional(v.number(), 5),
      s: v.optional(
        v.pipe(
          v.string(),
          v.transform((text) => text.length),
        ),
      ),
    }),
  ],
])("%s", (_, schema) => {
  test("gives its output, defaults and transforms included", () => {
    expect(standardCheck(schema)({ s: "abc" })).toEqual({ ok: true, value: { n: 5, s: 3 } });
  });

  test("gives its issues with paths as JSON pointers", () => {
    expect(standardCheck(schema)({ n: "x" })).toMatchObject({ ok: false, issues: [{ path: "/n" }] });
  });
});

test("an asynchronous schema is waited for", async () => {
  const check = standardCheck(z.string().refine(async (text) => text === "a", "must be a"));
  await expect(check("a")).resolves.toEqual({ ok: true, value: "a" });
  await expect(check("b")).resolves.toEqual({ ok: false, issues: [{ path: "", message: "must be a" }] });
});

test("a key in a path is escaped (RFC 6901)", () => {
  const issues = [{ message: "no", path: ["a/b~c", 0, { key: "d" }, Symbol("e")] }];
  expect(standardCheck(schemaOf(() => ({ issues })))(1)).toEqual({
    ok: false,
    issues: [{ path: "/a~1b~0c/0/d/Symbol(e)", message: "no" }],
  });
});

test("at most ten issues are passed on", () => {
  const issues = Array.from({ length: 50 }, () => ({ message: "no" }));
  expect(standardCheck(schemaOf(() => ({ issues })))(1)).toMatchObject({ issues: { length: 10 } });
});

describe("a schema whose own code fails", () => {
  const cause = new Error("password=hunter2");
  const failed = {
    ok: false,
    issues: [{ path: "", message: "cannot be checked: the schema's own code failed" }],
    cause,
  };

  test("by a throw is an issue that does not show why, with the cause for the log", () => {
    const check = standardCheck(
      schemaOf(() => {
        throw cause;
      }),
    );
    expect(check(1)).toEqual(failed);
  });

  test("by a rejection too", async () => {
    await expect(standardCheck(schemaOf(() => Promise.reject(cause)))(1)).resolves.toEqual(failed);
  });
});
