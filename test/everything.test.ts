import { setImmediate } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { ToolContext, type Answers } from "../src/core/context.ts";
import { ToolError } from "../src/core/errors.ts";
import type { JsonObject } from "../src/core/json.ts";
import {
  isInputRequired,
  ToolResult,
  type InputRequired,
  type RawResult,
  type ToolOutput,
} from "../src/core/result.ts";
import { tasksExtension } from "../src/core/tasks.ts";
import { createDescription } from "./everything/description.mjs";
import { createEverything, type Everything } from "./everything/everything.mjs";
import { createEverythingLegacy } from "./everything/everythingLegacy.mjs";

const prefix = "test_input_required_result";
const accept = (content: JsonObject): JsonObject => ({ action: "accept", content });

function call(everything: Everything, tool: string, answers?: Answers): Promise<ToolOutput> {
  return everything.callTool(`${prefix}_${tool}`, {}, new ToolContext(answers ? { answers } : {}));
}

/** The questions of an answer that has to be one. */
function asked(output: ToolOutput): InputRequired {
  if (typeof output === "object" && isInputRequired(output)) return output;
  throw new Error(`It asked nothing: ${JSON.stringify(output)}`);
}

const answered = (output: InputRequired, responses: JsonObject): Answers => ({
  responses,
  ...(output.requestState !== undefined && { requestState: output.requestState }),
});

describe("the own form", () => {
  test("asks round after round, each state with the responses before it", async () => {
    const everything = createEverything({ ToolError });
    const first = asked(await call(everything, "multi_round"));
    const second = asked(
      await call(everything, "multi_round", answered(first, { step1: accept({ name: "Ada" }) })),
    );
    expect([first, second].map(({ inputRequests }) => Object.keys(inputRequests ?? {}))).toEqual([
      ["step1"],
      ["step2"],
    ]);
    const last = answered(second, { step2: accept({ color: "blue" }) });
    expect(await call(everything, "multi_round", last)).toEqual(ToolResult.success("Ada likes blue"));
  });

  test("asks again for what is missing or has no form of an answer", async () => {
    const everything = createEverything({ ToolError });
    for (const responses of [
      {},
      { other: accept({ name: "Ada" }) },
      { user_name: 5 },
      { user_name: accept({}) },
    ])
      expect(asked(await call(everything, "elicitation", { responses })).inputRequests).toHaveProperty(
        "user_name",
      );
  });

  test("takes no state but its own, unchanged", async () => {
    const everything = createEverything({ ToolError });
    const { requestState = "" } = asked(await call(everything, "tampered_state"));
    const { requestState: another = "" } = asked(await call(everything, "request_state"));
    const responses = { confirm: accept({ ok: true }) };
    expect(await call(everything, "tampered_state", { responses, requestState })).toEqual(
      ToolResult.success("state-ok"),
    );
    for (const forged of [
      another,
      "",
      ".",
      `${requestState}-TAMPERED`,
      `${requestState}.`,
      `a${requestState}`,
    ])
      await expect(
        call(everything, "tampered_state", { responses, requestState: forged }),
      ).rejects.toMatchObject({
        data: { error: { code: -32602 } },
      });
  });
});

describe("a task of the own form", () => {
  const extensions = { [tasksExtension]: {} };
  const inTasks = new ToolContext({ clientCapabilities: { extensions } });

  /** Begins one, which has to become a task. */
  async function begin(tool: string, args: JsonObject = {}, ctx = inTasks) {
    const { callTool, tasks } = createEverything({ ToolError });
    const { value } = (await callTool(tool, args, ctx)) as RawResult;
    expect(value).toEqual({
      resultType: "task",
      taskId: expect.any(String),
      status: expect.any(String),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      lastUpdatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      ttlMs: null,
      pollIntervalMs: 100,
    });
    const { taskId } = value;
    const get = (): Promise<JsonObject> => tasks.request("tasks/get", { taskId }, inTasks);
    return {
      get,
      answer: (inputResponses: JsonObject) =>
        tasks.request("tasks/update", { taskId, inputResponses }, inTasks),
      cancel: () => tasks.request("tasks/cancel", { taskId }, inTasks),
      async end(): Promise<JsonObject> {
        let task = await get();
        while (task["status"] === "working") task = await setImmediate().then(get);
        return task;
      },
    };
  }

  const keysOf = ({ inputRequests }: JsonObject): string[] => Object.keys(inputRequests as JsonObject);

  test("completes with what the tool answers, its failure as well", async () => {
    const computed = await begin("slow_compute", { seconds: 0, label: "a" });
    expect(await computed.end()).toMatchObject({
      status: "completed",
      result: ToolResult.success("a: computed for 0 s"),
    });
    expect(await (await begin("failing_job")).end()).toMatchObject({
      status: "completed",
      result: { isError: true },
    });
  });

  test("fails with an error of the protocol, and without a result", async () => {
    const task = await (await begin("protocol_error_job")).end();
    expect(task).toMatchObject({
      status: "failed",
      error: { code: -32603, message: expect.stringMatching(/./) },
    });
    expect(task).not.toHaveProperty("result");
  });

  test("can be cancelled, and once it is over it stays as it is", async () => {
    const slow = await begin("slow_compute", { seconds: 60, label: "a" });
    expect(await slow.get()).toMatchObject({ status: "working" });
    expect(await slow.cancel()).toEqual({});
    expect(await slow.end()).toMatchObject({ status: "cancelled" });
    const done = await begin("failing_job");
    await done.end();
    expect(await done.cancel()).toEqual({});
    expect(await done.get()).toMatchObject({ status: "completed" });
  });

  test("asks, takes answers one by one, and only to what it asks", async () => {
    const task = await begin("multi_input");
    const asked = await task.get();
    expect(asked).toMatchObject({ status: "input_required" });
    const [who = "", sure = ""] = keysOf(asked);
    const refused = { other: accept({ name: "Ada" }), [who]: accept({}), [sure]: 5 };
    expect(await task.answer(refused)).toEqual({});
    expect(await task.get()).toEqual(asked);
    await task.answer({ [who]: accept({ name: "Ada" }) });
    expect(keysOf(await task.get())).toEqual([sure]);
    await task.answer({ [who]: accept({ name: "Bob" }), [sure]: accept({ confirm: true }) });
    expect(await task.end()).toMatchObject({ result: ToolResult.success("Ada: true") });
  });

  test.each([
    [accept({ confirm: true }), "deleted"],
    [accept({ confirm: false }), "kept"],
    [{ action: "decline" }, "kept"],
  ])("goes by what is answered: %j", async (answer, what) => {
    const task = await begin("confirm_delete", { filename: "a.txt" });
    await task.answer(Object.fromEntries(keysOf(await task.get()).map((key) => [key, answer])));
    expect(await task.end()).toMatchObject({ result: ToolResult.success(`a.txt was ${what}`) });
  });

  test("may begin after questions that were answered before it", async () => {
    const { callTool } = createEverything({ ToolError });
    const first = asked(await callTool("test_tool_with_task", {}, inTasks));
    expect(first).not.toHaveProperty("taskId");
    const answers = answered(first, { user_name: accept({ name: "Ada" }) });
    const task = await begin("test_tool_with_task", {}, inTasks.with({ answers }));
    expect(await task.end()).toMatchObject({ result: ToolResult.success("Hello, Ada!") });
  });

  test("that is not there is not found", async () => {
    const { tasks } = createEverything({ ToolError });
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"] as const)
      await expect(tasks.request(method, { taskId: "7", inputResponses: {} }, inTasks)).rejects.toMatchObject(
        { code: "NotFound" },
      );
  });

  test("is nothing for a client without the extension: it gets the result, or hears what is missing", async () => {
    const { callTool, info } = createEverything({ ToolError });
    expect(await info?.()).toMatchObject({ capabilities: { extensions } });
    const plain = new ToolContext({ onAsk: async () => accept({ confirm: true }) });
    expect(await callTool("confirm_delete", { filename: "a.txt" }, plain)).toEqual(
      ToolResult.success("a.txt was deleted"),
    );
    expect(await callTool("greet", { name: "Ada" }, inTasks)).toEqual(ToolResult.success("Hello, Ada!"));
    for (const tool of ["failing_job", "protocol_error_job", "test_tool_with_task"])
      await expect(callTool(tool, {}, plain)).rejects.toMatchObject({
        code: "MissingClientCapability",
        data: { requiredCapabilities: { extensions } },
      });
  });
});

describe("the legacy form", () => {
  test("lists what the own form lists, and asks its client while the call runs", async () => {
    const description = createDescription();
    const own = createEverything({ ToolError, description });
    const client = new Client({ name: "test", version: "1" }, { capabilities: { roots: {} } });
    onTestFinished(() => client.close());
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await Promise.all([createEverythingLegacy(description).connect(theirs), client.connect(ours)]);
    const names = (definitions: readonly JsonObject[]): unknown[] => definitions.map(({ name }) => name);
    expect(names((await client.listTools()).tools)).toEqual(names(await own.listTools()));
    expect(names((await client.listPrompts()).prompts)).toEqual(names(await own.prompts.listPrompts()));
    expect(names((await client.listResources()).resources)).toEqual(
      names(await own.resources.listResources()),
    );
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///work" }] }));
    expect(await client.callTool({ name: `${prefix}_list_roots` })).toEqual(
      ToolResult.success("file:///work"),
    );
  });
});
