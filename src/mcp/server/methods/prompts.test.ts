import { describe, expect, it } from "vitest";
import { ToolError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json.ts";
import { metaKeys } from "../../../wire/protocol.ts";
import { callerTo, providerOf, ShellClient } from "../../../../test/support/shellClient.ts";

/** A server of one prompt. */
function serving(getPrompt: (name: string, args: JsonObject) => Promise<JsonObject>) {
  const prompts = { listPrompts: async () => [{ name: "greet" }], getPrompt };
  return new ShellClient(callerTo(providerOf({}, { prompts })));
}

const greeting = (_name: string, { who }: JsonObject): Promise<JsonObject> =>
  Promise.resolve({ description: `for ${String(who)}`, messages: [], odd: 1, _meta: { a: 1 } });

describe("prompts/get", () => {
  it("answers what the provider has, with all its members", async () => {
    const client = serving(greeting);
    const params = { name: "greet", arguments: { who: "me" } };
    expect((await client.modern("prompts/get", params)).result).toEqual({
      resultType: "complete",
      description: "for me",
      messages: [],
      odd: 1,
      _meta: { a: 1, [metaKeys.serverInfo]: { name: "test", version: "1" } },
    });
    await client.initialize();
    expect((await client.ask("prompts/get", { name: "greet" })).result).toEqual({
      description: "for undefined",
      messages: [],
      odd: 1,
      _meta: { a: 1 },
    });
  });

  it.each([
    ["no name", {}],
    ["a name that is no string", { name: 1 }],
    ["arguments that are no object", { name: "greet", arguments: [] }],
    ["an argument that is no string", { name: "greet", arguments: { who: 1 } }],
  ])("is malformed with %s", async (_what, params) => {
    expect((await serving(greeting).modern("prompts/get", params)).error.code).toBe(-32602);
  });

  it("has -32602 for a prompt that is not there, in both eras", async () => {
    const client = serving(greeting);
    const error = { code: -32602, message: "Unknown prompt: rm" };
    expect((await client.modern("prompts/get", { name: "rm" })).error).toEqual(error);
    await client.initialize();
    expect((await client.ask("prompts/get", { name: "rm" })).error).toEqual(error);
  });

  it("has an error for a failure: only a tool's result can say that it failed", async () => {
    const client = serving(() => Promise.reject(new ToolError("ExecutionFailed", "no ink")));
    const error = { code: -32603, message: "no ink" };
    expect((await client.modern("prompts/get", { name: "greet" })).error).toEqual(error);
  });

  it("has -32602 for arguments that the provider refuses", async () => {
    const client = serving(() => Promise.reject(new ToolError("InvalidArguments", "who is missing")));
    const error = { code: -32602, message: "who is missing" };
    expect((await client.modern("prompts/get", { name: "greet" })).error).toEqual(error);
  });

  it("keeps a result type of an extension", async () => {
    const client = serving(async () => ({ resultType: "task", task: { id: 7 } }));
    const { result } = await client.modern("prompts/get", { name: "greet" });
    expect(result).toMatchObject({ resultType: "task", task: { id: 7 } });
  });

  it("that a guard answered with a tool's result is a fault of ours", async () => {
    const prompts = { listPrompts: async () => [{ name: "greet" }], getPrompt: greeting as never };
    const guard = { name: "odd", call: async () => ({ content: [] }) };
    const client = new ShellClient(callerTo(providerOf({}, { prompts }), [guard]));
    expect(await client.modern("prompts/get", { name: "greet" })).toMatchObject({
      status: 500,
      error: { code: -32603, message: "Internal error" },
    });
  });
});
