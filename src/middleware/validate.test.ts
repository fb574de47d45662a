import type { StandardSchemaV1 } from "@standard-schema/spec";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { ToolContext } from "../core/context.ts";
import type { Check, Validator } from "../core/effects.ts";
import type { JsonObject } from "../core/json.ts";
import type { Next, ResolvedOperation } from "../core/operation.ts";
import { ToolResult } from "../core/result.ts";
import { resolvedOperation, toolResult, unresolvedOperation } from "../../test/support/operation.ts";
import { validate } from "./validate.ts";

/** A validator whose verdicts the test writes down beside the schemas. */
const compile = vi.fn<Validator["compile"]>((schema) => schema["check"] as Check);
const validator: Validator = {
  compile,
  standard: (schema) => (value) => schema["~standard"].validate(value) as ReturnType<Check>,
};
const schemaOf = (check: Check): JsonObject => ({ check });
const standardOf = (check: Check): StandardSchemaV1 => ({
  "~standard": { version: 1, vendor: "test", validate: check as StandardSchemaV1["~standard"]["validate"] },
});

const passes: Check = (value) => ({ ok: true, value });
const fills: Check = (value) => ({ ok: true, value: { ...(value as JsonObject), filled: true } });
const fails: Check = () => ({
  ok: false,
  issues: [
    { path: "/path", message: "must be string, got number" },
    { path: "", message: "must have required property 'mode'" },
  ],
});

const done: ToolResult = { content: [{ type: "text", text: "done" }], structuredContent: { a: 1 } };
const next = vi.fn<Next>();
const run = async (operation: ResolvedOperation): Promise<ToolResult> =>
  toolResult(await validate({ validator }).call!(operation, new ToolContext(), next));

beforeEach(() => {
  compile.mockClear();
  next.mockReset();
  next.mockResolvedValue(done);
});

describe("arguments of a local tool", () => {
  test("that pass unchanged go on with the very same operation", async () => {
    const operation = resolvedOperation({ definition: { inputSchema: schemaOf(passes) } });
    expect(await run(operation)).toBe(done);
    expect(next.mock.calls[0]![0]).toBe(operation);
    expect(compile).toHaveBeenCalledWith(operation.item!.definition.inputSchema, { trusted: true });
  });

  test("go on as the schema made them", async () => {
    const operation = resolvedOperation({
      arguments: { a: 1 },
      facts: { validation: "local" },
      definition: { inputSchema: schemaOf(fills) },
    });
    await run(operation);
    expect(next.mock.calls[0]![0]).toEqual({ ...operation, arguments: { a: 1, filled: true } });
    expect(operation.arguments).toEqual({ a: 1 });
  });

  test("that break the schema are answered with what was expected where, and nothing runs", async () => {
    const answer = run(resolvedOperation({ definition: { inputSchema: schemaOf(fails) } }));
    await expect(answer).rejects.toMatchObject({
      code: "InvalidArguments",
      message:
        "Invalid arguments for files__read:\n" +
        "- /path: must be string, got number\n" +
        "- must have required property 'mode'",
    });
    expect(next).not.toHaveBeenCalled();
  });

  test("get at most ten lines", async () => {
    const issues = Array.from({ length: 25 }, (_, index) => ({ path: `/${index}`, message: "no" }));
    const inputSchema = schemaOf(() => ({ ok: false, issues }));
    const refused = await run(resolvedOperation({ definition: { inputSchema } })).catch(
      (error: Error) => error,
    );
    const lines = (refused as Error).message.split("\n");
    expect(lines).toHaveLength(12);
    expect(lines.slice(-2)).toEqual(["- /9: no", "- and 15 more"]);
  });

  test("are checked by the Standard Schema where there is one, asynchronously too", async () => {
    const facts = { inputStandard: standardOf((value) => Promise.resolve(fills(value))) };
    const operation = resolvedOperation({ facts, definition: { inputSchema: schemaOf(fails) } });
    await run(operation);
    expect(next.mock.calls[0]![0].arguments).toEqual({ filled: true });
    expect(compile).not.toHaveBeenCalled();
  });

  test("whose schema's own code fails are not called invalid: the cause goes on", async () => {
    const cause = new Error("database is down");
    const inputStandard = standardOf(() => ({ ok: false, issues: [], cause }));
    await expect(run(resolvedOperation({ facts: { inputStandard } }))).rejects.toBe(cause);
    expect(next).not.toHaveBeenCalled();
  });
});

describe("arguments of an upstream's tool", () => {
  test("are left to the upstream", async () => {
    const operation = resolvedOperation({
      facts: { validation: "upstream" },
      definition: { inputSchema: schemaOf(fails), outputSchema: schemaOf(fails) },
    });
    expect(await run(operation)).toBe(done);
    expect(next.mock.calls[0]![0]).toBe(operation);
    expect(compile).not.toHaveBeenCalled();
  });

  test("are checked without trust where that is wanted, and go on unchanged; the answer is not checked", async () => {
    const operation = resolvedOperation({
      facts: { validation: "upstream-checked" },
      definition: { inputSchema: schemaOf(fills), outputSchema: schemaOf(fails) },
    });
    expect(await run(operation)).toBe(done);
    expect(next.mock.calls[0]![0]).toBe(operation);
    expect(compile.mock.calls).toEqual([[operation.item!.definition.inputSchema, { trusted: false }]]);
  });

  test("are refused where they break the schema", async () => {
    const facts = { validation: "upstream-checked" } as const;
    const answer = run(resolvedOperation({ facts, definition: { inputSchema: schemaOf(fails) } }));
    await expect(answer).rejects.toMatchObject({ code: "InvalidArguments" });
    expect(next).not.toHaveBeenCalled();
  });
});

test("a name that nothing has goes on", async () => {
  const operation = unresolvedOperation();
  await run(operation);
  expect(next.mock.calls[0]![0]).toBe(operation);
});

describe("what is no tool's call", () => {
  test.each(["prompts/get", "resources/read", "completion/complete", "elicitation/create"] as const)(
    "goes on unread, also where a tool's item comes with it: %s",
    async (kind) => {
      const operation = { ...resolvedOperation({ definition: { inputSchema: schemaOf(fails) } }), kind };
      await run(operation);
      expect(next.mock.calls[0]![0]).toBe(operation);
      expect(compile).not.toHaveBeenCalled();
    },
  );

  test("nor a tool's answer is not checked against the output schema", async () => {
    const asked = { type: "input_required", requestState: "s" } as const;
    next.mockResolvedValue(asked);
    const operation = resolvedOperation({
      definition: { inputSchema: schemaOf(passes), outputSchema: schemaOf(fails) },
    });
    expect(await validate({ validator }).call!(operation, new ToolContext(), next)).toBe(asked);
  });
});

describe("schemas", () => {
  test("are compiled once, on the first call, also when the definition around them is new", async () => {
    const guard = validate({ validator });
    const definition = { inputSchema: schemaOf(passes), outputSchema: schemaOf(passes) };
    const call = () =>
      guard.call!(resolvedOperation({ definition: { ...definition } }), new ToolContext(), next);
    expect(compile).not.toHaveBeenCalled();
    await call();
    await call();
    expect(compile).toHaveBeenCalledTimes(2);
  });

  test.each(["local", "upstream-checked"] as const)(
    "that cannot be used fail the call and say why, each time, compiled once: %s",
    async (validation) => {
      compile.mockImplementation(() => {
        throw new Error("it is nested more than 64 levels deep");
      });
      const guard = validate({ validator });
      const operation = resolvedOperation({ facts: { validation } });
      const call = () => guard.call!(operation, new ToolContext(), next);
      const failure = {
        code: "ExecutionFailed",
        message: "files__read: its input schema cannot be used: it is nested more than 64 levels deep.",
      };
      await expect(call()).rejects.toMatchObject(failure);
      await expect(call()).rejects.toMatchObject(failure);
      expect(compile).toHaveBeenCalledTimes(1);
      expect(next).not.toHaveBeenCalled();
      compile.mockImplementation((schema) => schema["check"] as Check);
    },
  );

  test("of answers that cannot be used fail the call before the tool runs", async () => {
    const broken: JsonObject = {};
    compile.mockImplementation((schema) => {
      if (schema === broken) throw new Error("it is broken");
      return passes;
    });
    const definition = { inputSchema: schemaOf(passes), outputSchema: broken };
    await expect(run(resolvedOperation({ definition }))).rejects.toMatchObject({
      code: "ExecutionFailed",
      message: "files__read: its output schema cannot be used: it is broken.",
    });
    expect(next).not.toHaveBeenCalled();
    compile.mockImplementation((schema) => schema["check"] as Check);
  });
});

describe("answers of a local tool with an output schema", () => {
  const operationWith = (outputSchema: Check): ResolvedOperation =>
    resolvedOperation({
      definition: { inputSchema: schemaOf(passes), outputSchema: schemaOf(outputSchema) },
    });

  test("that conform pass as they are", async () => {
    expect(await run(operationWith(passes))).toBe(done);
  });

  test("that do not conform are the tool's fault", async () => {
    await expect(run(operationWith(fails))).rejects.toMatchObject({
      code: "InvalidOutput",
      message:
        "The answer of files__read breaks its own output schema. This is a fault of the tool, not of the call:\n" +
        "- /path: must be string, got number\n- must have required property 'mode'",
    });
  });

  test("must have structuredContent", async () => {
    next.mockResolvedValue(ToolResult.success("done"));
    await expect(run(operationWith(passes))).rejects.toMatchObject({
      code: "InvalidOutput",
      message: expect.stringContaining("it must answer with structuredContent") as unknown,
    });
  });

  test("that are errors need not conform", async () => {
    const failed = ToolResult.error("no such file");
    next.mockResolvedValue(failed);
    expect(await run(operationWith(fails))).toBe(failed);
  });

  test("are replaced by what the Standard Schema made of them", async () => {
    const outputStandard = standardOf(fills);
    expect(
      await run(
        resolvedOperation({ facts: { outputStandard }, definition: { inputSchema: schemaOf(passes) } }),
      ),
    ).toEqual({
      ...done,
      structuredContent: { a: 1, filled: true },
    });
  });

  test("whose schema's own code fails are not called invalid: the cause goes on", async () => {
    const cause = new Error("database is down");
    const facts = { outputStandard: standardOf(() => ({ ok: false, issues: [], cause })) };
    const definition = { inputSchema: schemaOf(passes) };
    await expect(run(resolvedOperation({ facts, definition }))).rejects.toBe(cause);
  });
});
