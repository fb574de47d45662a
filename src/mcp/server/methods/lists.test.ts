import { describe, expect, it, test } from "vitest";
import type { JsonObject } from "../../../core/json.ts";
import type { Caller } from "../../../core/operation.ts";
import type { ToolProvider } from "../../../core/provider.ts";
import { callerTo, providerOf, ShellClient } from "../../../../test/support/shellClient.ts";

const numbered = (count: number, of: (n: number) => JsonObject): JsonObject[] =>
  Array.from({ length: count }, (_, n) => of(n));

const prompts = numbered(5, (n) => ({ name: `p${n}`, title: "P", icons: [] }));
const resources = numbered(5, (n) => ({ uri: `file:///${n}`, name: `r${n}` }));
const templates = numbered(5, (n) => ({ uriTemplate: `t${n}:///{x}`, name: `t${n}` }));

const rich: Partial<ToolProvider> = {
  prompts: { listPrompts: async () => prompts, getPrompt: async () => ({ messages: [] }) },
  resources: {
    listResources: async () => resources,
    listResourceTemplates: async () => templates,
    readResource: async () => ({ contents: [] }),
    subscribe: async () => {},
  },
  complete: async () => ({ completion: { values: [] } }),
  info: async () => ({
    capabilities: {
      tools: {},
      prompts: {},
      resources: { subscribe: true },
      completions: {},
      extensions: { "x.y/z": {} },
    },
    instructions: "Read slowly.",
  }),
};
const tools = Object.fromEntries(Array.from("abcde", (name) => [name, () => name]));
const caller = callerTo(providerOf(tools, rich));

describe.each([
  ["tools/list", "tools", "name", ["a", "b", "c", "d", "e"]],
  ["prompts/list", "prompts", "name", prompts.map(({ name }) => name)],
  ["resources/list", "resources", "uri", resources.map(({ uri }) => uri)],
  [
    "resources/templates/list",
    "resourceTemplates",
    "uriTemplate",
    templates.map(({ uriTemplate }) => uriTemplate),
  ],
])("%s", (method, member, key, all) => {
  it("lists all with its hints", async () => {
    const { result } = await new ShellClient(caller).modern(method);
    expect(result[member].map((one: JsonObject) => one[key])).toEqual(all);
    expect(result).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "private" });
  });

  it("has no hints for a legacy client", async () => {
    const client = new ShellClient(caller);
    await client.initialize();
    const { result } = await client.ask(method);
    expect(Object.keys(result)).toEqual([member]);
    expect(result[member]).toHaveLength(5);
  });

  it("comes in pages, whose cursors lead to the end", async () => {
    const client = new ShellClient(caller, { pageSize: 2 });
    const seen: unknown[] = [];
    const sizes: number[] = [];
    let cursor: string | undefined;
    do {
      const { result } = await client.modern(method, cursor === undefined ? {} : { cursor });
      seen.push(...result[member].map((one: JsonObject) => one[key]));
      sizes.push(result[member].length);
      cursor = result.nextCursor;
    } while (cursor !== undefined);
    expect([seen, sizes]).toEqual([all, [2, 2, 1]]);
  });

  it("refuses a cursor that is none", async () => {
    expect((await new ShellClient(caller).modern(method, { cursor: btoa("5") })).error.code).toBe(-32602);
  });
});

describe("what nobody here has", () => {
  const bare = callerTo(providerOf({}));
  const methods: [string, JsonObject][] = [
    ["prompts/list", {}],
    ["prompts/get", { name: "p" }],
    ["resources/list", {}],
    ["resources/templates/list", {}],
    ["resources/read", { uri: "a:b" }],
    ["completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } }],
  ];

  it.each(methods)("is no method: %s", async (method, params) => {
    const client = new ShellClient(bare);
    const error = { code: -32601, message: `Method not found: ${method}` };
    expect(await client.modern(method, params)).toMatchObject({ status: 404, error });
    await client.initialize();
    expect(await client.ask(method, params)).toMatchObject({ status: 200, error });
  });

  it.each(["resources/subscribe", "resources/unsubscribe"])("is no method: %s", async (method) => {
    const client = new ShellClient(bare);
    await client.initialize();
    expect((await client.ask(method, { uri: "a:b" })).error.code).toBe(-32601);
  });

  test("is not announced", async () => {
    const client = new ShellClient(bare);
    const capabilities = { tools: { listChanged: true }, logging: {} };
    expect((await client.initialize()).result).not.toHaveProperty("instructions");
    expect((await client.modern("server/discover")).result.capabilities).toEqual(capabilities);
  });
});

test("what is here is told in both eras, with how to use it", async () => {
  const client = new ShellClient(caller, { instructions: "Be kind." });
  const told = {
    capabilities: {
      tools: { listChanged: true },
      logging: {},
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      completions: {},
      extensions: { "x.y/z": {} },
    },
    instructions: expect.stringMatching(/^Be kind\.\n\n[^]*Read slowly\.$/),
  };
  expect((await client.initialize()).result).toMatchObject(told);
  expect((await client.modern("server/discover")).result).toMatchObject(told);
});

test("there are no tasks in a session, whatever both sides say of the extension", async () => {
  const tasks = { "io.modelcontextprotocol/tasks": {}, "x.y/z": {} };
  const seen: unknown[] = [];
  const info = async () => ({ capabilities: { extensions: tasks } });
  const call: Caller["call"] = async (_, ctx) => {
    seen.push(ctx.clientCapabilities["extensions"]);
    return { type: "result", result: { content: [] } };
  };
  const client = new ShellClient({ ...caller, info, call });
  const { result } = await client.initialize({ extensions: tasks });
  expect(result.capabilities.extensions).toEqual({ "x.y/z": {} });
  expect((await client.modern("server/discover")).result.capabilities.extensions).toEqual(tasks);
  await client.ask("tools/call", { name: "a" });
  expect(seen).toEqual([{ "x.y/z": {} }]);
  expect((await client.ask("tasks/get", { taskId: "a" })).error.code).toBe(-32601);
});

test("resources whose changes nobody tells are not announced as if they were", async () => {
  const { info: _, ...untold } = rich;
  const readable = {
    ...untold.resources!,
    subscribe: undefined,
  } as unknown as ToolProvider["resources"] & {};
  const client = new ShellClient(callerTo(providerOf({}, { ...untold, resources: readable })));
  const { capabilities } = (await client.modern("server/discover")).result;
  expect(capabilities.resources).toEqual({ listChanged: true });
});
