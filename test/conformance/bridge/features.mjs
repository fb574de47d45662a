import assert from "node:assert/strict";
import { textOf } from "./clients.mjs";

// What a server has, as a client of either era gets it through the gateway. Each check is `check(run)` (see `Run`).

const namesOf = (entries) => entries.map(({ name }) => name);
const notFound = { legacy: -32002, modern: -32602 };

async function tools(run) {
  const client = await run.client();
  const { tools: listed } = await client.request("tools/list");
  assert.ok(namesOf(listed).includes("test_simple_text"));
  const simple = [{ type: "text", text: "This is a simple text response for testing." }];
  assert.deepEqual((await client.callTool("test_simple_text")).content, simple);
  const types = (await client.callTool("test_multiple_content_types")).content.map(({ type }) => type);
  assert.deepEqual(types, ["text", "image", "resource"]);
  assert.equal((await client.callTool("test_error_handling")).isError, true);
  await assert.rejects(client.callTool("nowhere"), { code: -32602 });
  const all = await run.client({ namespace: null });
  assert.deepEqual((await all.callTool(`${run.namespace}__test_simple_text`)).content, simple);
}

async function resources(run) {
  const client = await run.client();
  const { resources: listed } = await client.request("resources/list");
  assert.ok(namesOf(listed).includes("static-text"));
  const read = async (uri) => (await client.request("resources/read", { uri })).contents[0];
  assert.deepEqual(await read("test://static-text"), {
    uri: "test://static-text",
    mimeType: "text/plain",
    text: "This is the content of the static text resource.",
  });
  assert.equal(typeof (await read("test://static-binary")).blob, "string");
  const { resourceTemplates } = await client.request("resources/templates/list");
  assert.deepEqual(
    resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ["test://template/{id}/data"],
  );
  assert.equal(JSON.parse((await read("test://template/7/data")).text).id, "7");
  await assert.rejects(read("test://nowhere"), { code: notFound[run.cell.client] });
}

async function prompts(run) {
  const client = await run.client();
  const { prompts: listed } = await client.request("prompts/list");
  assert.ok(namesOf(listed).includes("test_simple_prompt"));
  const get = (name, args) => client.request("prompts/get", { name, arguments: args });
  const { messages } = await get("test_prompt_with_arguments", { arg1: "here", arg2: "there" });
  assert.deepEqual(messages, [
    {
      role: "user",
      content: { type: "text", text: "Prompt with arguments: arg1='here', arg2='there'" },
    },
  ]);
  await assert.rejects(get("nowhere", {}), { code: -32602 });
}

async function completion(run) {
  const client = await run.client();
  const complete = async (ref, name, value) =>
    (await client.request("completion/complete", { ref, argument: { name, value } })).completion.values;
  const prompt = { type: "ref/prompt", name: "test_prompt_with_arguments" };
  assert.deepEqual(await complete(prompt, "arg1", "par"), ["paris", "park", "party"]);
  const template = { type: "ref/resource", uri: "test://template/{id}/data" };
  assert.deepEqual(await complete(template, "id", "12"), ["123", "124"]);
}

async function progress(run) {
  const client = await run.client();
  const told = [];
  await client.callTool("test_tool_with_progress", {}, { onprogress: (step) => told.push(step) });
  assert.deepEqual(
    told.map(({ progress: done, total }) => [done, total]),
    [
      [0, 100],
      [50, 100],
      [100, 100],
    ],
  );
}

/** Calls a tool with logs from that level on: a legacy session sets it, a modern request says it. */
async function callLogging(run, client, level, { name, args, options }) {
  const isLegacy = run.cell.client === "legacy";
  if (isLegacy) await client.request("logging/setLevel", { level });
  const _meta = isLegacy ? {} : { "io.modelcontextprotocol/logLevel": level };
  return client.request("tools/call", { name, arguments: args, _meta }, options);
}

async function logs(run) {
  const client = await run.client();
  const call = { name: "test_tool_with_logging", args: {} };
  // Its lines are less than that, and come before the result if they come.
  await callLogging(run, client, "error", call);
  assert.deepEqual(client.heard, []);
  await callLogging(run, client, "info", call);
  assert.deepEqual(
    client.heard.map(({ method, params: { level, data } }) => [method, level, data]),
    ["Tool execution started", "Tool processing data", "Tool execution completed"].map((line) => [
      "notifications/message",
      "info",
      line,
    ]),
  );
}

async function cancellation(run) {
  const client = await run.client();
  const key = crypto.randomUUID();
  const controller = new AbortController();
  const call = { name: "test_slow", args: { key }, options: { signal: controller.signal } };
  const cancelled = assert.rejects(callLogging(run, client, "info", call));
  await client.hears("notifications/message", ({ data }) => data === `started ${key}`);
  controller.abort("enough");
  await run.until("the end of the cancelled request", cancelled);
  const happened = `cancelled ${key}`;
  assert.equal(
    textOf(await client.callTool("test_await", { what: happened })),
    `It has happened: ${happened}`,
  );
}

/** A change of one of the three lists. */
const changesOf = (kind, tool, extra) => async (run) => {
  const client = await run.client();
  const isThere = async () => namesOf((await client.request(`${kind}/list`))[kind]).includes(extra);
  await client.listen({ lists: [kind] });
  const before = await isThere();
  await client.callTool(tool);
  await client.hears(`notifications/${kind}/list_changed`);
  assert.equal(await isThere(), !before);
};

async function subscription(run) {
  const client = await run.client();
  const uri = "test://watched-resource";
  const read = async () => (await client.request("resources/read", { uri })).contents[0].text;
  const before = await read();
  await client.listen({ uris: [uri] });
  await client.callTool("test_update_resource", { uri });
  await client.hears("notifications/resources/updated", (params) => params.uri === uri);
  assert.notEqual(await read(), before);
}

/** Entries are `{ name, check }`. */
export const features = Object.entries({
  tools,
  resources,
  prompts,
  completion,
  progress,
  logs,
  cancellation,
  "tool list changes": changesOf("tools", "test_trigger_tool_change", "test_extra_tool"),
  "prompt list changes": changesOf("prompts", "test_trigger_prompt_change", "test_extra_prompt"),
  "resource list changes": changesOf("resources", "test_trigger_resource_change", "extra"),
  subscription,
}).map(([name, check]) => ({ name, check }));
