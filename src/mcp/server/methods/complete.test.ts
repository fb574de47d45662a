import { describe, expect, it } from "vitest";
import type { ToolContext } from "../../../core/context.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { CompletionRequest } from "../../../core/provider.ts";
import { callerTo, providerOf, ShellClient } from "../../../../test/support/shellClient.ts";

const completion = { values: ["python"], total: 1, hasMore: false };

function serving(complete: (request: CompletionRequest, ctx: ToolContext) => Promise<JsonObject>) {
  const prompts = { listPrompts: async () => [{ name: "greet" }], getPrompt: async () => ({ messages: [] }) };
  const resources = {
    listResources: async () => [],
    listResourceTemplates: async () => [{ uriTemplate: "file:///{path}", name: "f" }],
    readResource: async () => ({ contents: [] }),
  };
  return new ShellClient(callerTo(providerOf({}, { prompts, resources, complete })));
}

const ref = { type: "ref/prompt", name: "greet" };
const argument = { name: "language", value: "py" };

describe("completion/complete", () => {
  it.each([ref, { type: "ref/resource", uri: "file:///{path}" }])("asks the provider for %j", async (one) => {
    const seen: CompletionRequest[] = [];
    const client = serving(async (request) => (seen.push(request), { completion }));
    const context = { arguments: { path: "a" } };
    const { result } = await client.modern("completion/complete", { ref: one, argument, context });
    expect(result).toMatchObject({ resultType: "complete", completion });
    await client.initialize();
    expect((await client.ask("completion/complete", { ref: one, argument })).result).toEqual({ completion });
    expect(seen).toEqual([
      { ref: one, argument, context },
      { ref: one, argument },
    ]);
  });

  it.each([
    ["no ref", { argument }],
    ["a ref of an unknown type", { ref: { type: "ref/tool", name: "greet" }, argument }],
    ["a prompt without a name", { ref: { type: "ref/prompt", uri: "greet" }, argument }],
    ["a template without a URI", { ref: { type: "ref/resource", name: "greet" }, argument }],
    ["no argument", { ref }],
    ["an argument without a value", { ref, argument: { name: "language" } }],
    ["an argument without a name", { ref, argument: { value: "py" } }],
    ["a context that is no object", { ref, argument, context: [] }],
    ["an unknown prompt", { ref: { ...ref, name: "rm" }, argument }],
  ])("refuses %s", async (_what, params) => {
    let asked = 0;
    const client = serving(async () => (asked++, { completion }));
    expect((await client.modern("completion/complete", params)).error.code).toBe(-32602);
    expect(asked).toBe(0);
  });

  it("is never answered with questions to a modern client, who could not answer them there", async () => {
    const client = serving((_request, ctx) => ctx.ask({ method: "roots/list", params: {} }));
    const { result, error } = await client.able("completion/complete", { ref, argument });
    expect(result).toBeUndefined();
    expect(error).toEqual({ code: -32603, message: "This door cannot ask the client for roots/list." });
  });

  it("nor where a guard answers with questions of its own", async () => {
    const guard = {
      name: "asks",
      call: async () => ({ type: "input_required", requestState: "x" }) as const,
    };
    const prompts = { listPrompts: async () => [{ name: "greet" }], getPrompt: async () => ({}) };
    const provider = providerOf({}, { prompts, complete: async () => ({ completion }) });
    const client = new ShellClient(callerTo(provider, [guard]));
    const { error } = await client.able("completion/complete", { ref, argument });
    expect(error).toMatchObject({
      code: -32603,
      message: expect.stringContaining("completion/complete asks"),
    });
  });
});
