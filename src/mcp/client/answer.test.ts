import { describe, expect, test } from "vitest";
import { connected, failure } from "../../../test/support/connected.ts";
import { modernServer } from "../../../test/support/fakeServer.ts";
import { ToolContext, type Answers } from "../../core/context.ts";
import type { JsonObject } from "../../core/json.ts";
import type { UpstreamConnection } from "./connect.ts";

type Ask = (connection: UpstreamConnection, ctx: ToolContext) => Promise<unknown>;

/** The requests that a server may answer with questions, and a complete result of each. */
const kinds: readonly [method: string, ask: Ask, complete: JsonObject][] = [
  ["tools/call", (connection, ctx) => connection.callTool("read", {}, ctx), { content: [] }],
  ["resources/read", (connection, ctx) => connection.readResource("x://y", ctx), { contents: [] }],
  ["prompts/get", (connection, ctx) => connection.getPrompt("p", {}, ctx), { messages: [] }],
];

const inputRequests = {
  name: { method: "elicitation/create", params: { message: "Who?" } },
  roots: { method: "roots/list" },
  words: { method: "sampling/createMessage", params: { maxTokens: 1 } },
};

async function answering(method: string, answer: (params: JsonObject) => JsonObject) {
  const server = modernServer({ [method]: answer });
  return { server, ...(await connected(server)) };
}

describe.each(kinds)("%s", (method, ask, complete) => {
  test("may ask the client first: questions and state as they are", async () => {
    const stamp = { "io.modelcontextprotocol/serverInfo": { name: "new" } };
    const { connection } = await answering(method, () => ({
      resultType: "input_required",
      inputRequests,
      requestState: "opaque",
      _meta: { ...stamp, "a/b": 1 },
    }));
    expect(await ask(connection, new ToolContext())).toEqual({
      type: "input_required",
      inputRequests: { ...inputRequests, roots: { method: "roots/list", params: {} } },
      requestState: "opaque",
      _meta: { "a/b": 1 },
    });
  });

  test("may give a state alone, or questions alone", async () => {
    for (const one of [{ requestState: "" }, { inputRequests: { roots: inputRequests.roots } }]) {
      const { connection } = await answering(method, () => ({ resultType: "input_required", ...one }));
      const asked = (await ask(connection, new ToolContext())) as JsonObject;
      expect(Object.keys(asked)).toEqual(["type", ...Object.keys(one)]);
    }
  });

  test("answers go with the next try, the state only where there was one", async () => {
    const { server, connection } = await answering(method, () => complete);
    const responses = { name: { action: "accept", content: { name: "Ada" } } };
    const tries: Answers[] = [{ responses }, { responses, requestState: "opaque" }];
    for (const answers of tries) await ask(connection, new ToolContext({ answers }));
    const [first, second] = server.requests(method).map(({ params }) => params);
    expect(first).toMatchObject({ inputResponses: responses });
    expect(first).not.toHaveProperty("requestState");
    expect(second).toMatchObject({ inputResponses: responses, requestState: "opaque" });
  });

  test.each([
    ["nothing in it", {}],
    ["questions that are no object", { inputRequests: [inputRequests.name] }],
    ["null for questions", { inputRequests: null, requestState: "s" }],
    ["a question that is no object", { inputRequests: { a: "who?" } }],
    ["a question of a method that cannot be asked", { inputRequests: { a: { method: "tools/call" } } }],
    ["a question without a method", { inputRequests: { a: { params: {} } } }],
    ["params that are no object", { inputRequests: { a: { method: "roots/list", params: [] } } }],
    ["a state that is no text", { requestState: { a: 1 }, inputRequests }],
  ])("with %s is an error that names it", async (_what, members) => {
    const { connection } = await answering(method, () => ({ resultType: "input_required", ...members }));
    expect(await failure(ask(connection, new ToolContext()))).toMatchObject({
      code: "ExecutionFailed",
      message: expect.stringMatching(/^Upstream "fs" answered .* with "input_required", but without/),
    });
  });

  test("a result type of an extension passes unchanged where the client declared any, else it is an error", async () => {
    const result = { resultType: "task", taskId: "t1", content: [], contents: [], messages: [] };
    const { connection } = await answering(method, () => result);
    const clientCapabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
    const passed = await ask(connection, new ToolContext({ clientCapabilities }));
    expect(passed).toEqual(method === "tools/call" ? { type: "raw", value: result } : result);
    for (const extensions of [undefined, {}, true])
      expect(
        await failure(ask(connection, new ToolContext({ clientCapabilities: { extensions } }))),
      ).toMatchObject({ code: "Unsupported", message: expect.stringContaining('of type "task"') });
  });

  test("a member of the server's own does not make unchecked questions of an answer", async () => {
    const { connection } = await answering(method, () => ({ ...complete, type: "input_required" }));
    const answer = await ask(connection, new ToolContext()).catch((error: unknown) => error);
    expect(answer).not.toHaveProperty("type", "input_required");
  });

  test("the server's stamp and the result's type stay behind; what it may not know passes", async () => {
    const { connection } = await answering(method, () => ({
      ...complete,
      resultType: "complete",
      "x-cost": 3,
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "new" } },
    }));
    const answer = (await ask(connection, new ToolContext())) as JsonObject;
    expect(JSON.stringify(answer)).not.toMatch(/resultType|_meta|serverInfo/);
    expect(JSON.stringify(answer)).toContain('"x-cost":3');
  });
});

test("a completion cannot ask", async () => {
  const { connection } = await answering("completion/complete", () => ({
    resultType: "input_required",
    requestState: "s",
  }));
  const request = { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } } as const;
  expect(await failure(connection.complete(request, new ToolContext()))).toMatchObject({
    code: "Unsupported",
    message: expect.stringContaining('of type "input_required"'),
  });
});
