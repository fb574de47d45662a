import { describe, expect, test } from "vitest";
import { connected, failure } from "../../../test/support/connected.ts";
import { announcing, legacyServer, modernServer, type Answer } from "../../../test/support/fakeServer.ts";
import { ToolContext, type Progress } from "../../core/context.ts";
import type { CompletionRequest } from "../../core/provider.ts";
import { RpcError } from "../../wire/jsonrpc.ts";
import type { ListName } from "./connect.ts";

const everything = { tools: {}, prompts: {}, resources: {}, completions: {} };
const ctx = new ToolContext();
const eras = [
  ["legacy", legacyServer],
  ["modern", modernServer],
] as const;

async function serving(answers: Record<string, Answer>, make = modernServer) {
  const server = announcing(make(answers), everything);
  return { server, ...(await connected(server)) };
}

const refusing =
  (code: number, message = "no", data?: unknown): Answer =>
  () => {
    throw new RpcError(code, message, { data });
  };

const kinds: readonly [ListName, string, string, string][] = [
  ["prompts", "prompts/list", "name", "name"],
  ["resources", "resources/list", "uri", "URI"],
  ["resourceTemplates", "resources/templates/list", "uriTemplate", "URI template"],
];

describe.each(kinds)("the list of %s", (name, method, key, word) => {
  const noun = { prompts: "prompt", resources: "resource", resourceTemplates: "resource template" }[
    name as string
  ];

  test.each(eras)("of a %s server has all pages, entries as they are", async (_era, make) => {
    const entries = [
      { [key]: "c", "x-vendor": { deep: [1] }, _meta: { "a/b": 1 }, title: null },
      { [key]: "a", name: "n" },
    ];
    const { connection } = await serving(
      {
        [method]: ({ cursor }) =>
          cursor === "2" ? { [name]: [entries[1]] } : { [name]: [entries[0]], nextCursor: "2" },
      },
      make,
    );
    const list = await connection.list(name);
    expect(list).toEqual({ entries, ttlMs: 0 });
    expect(JSON.stringify(list.entries)).toBe(JSON.stringify(entries));
  });

  test("leaves out what has no name of its kind and what has one twice, and says so", async () => {
    const { connection, log } = await serving({
      [method]: () => ({ [name]: [{ [key]: "a" }, { [key]: 1 }, null, { [key]: "a", title: "2" }, {}] }),
    });
    expect((await connection.list(name)).entries).toEqual([{ [key]: "a" }]);
    const nameless = `warning Upstream "fs": the ${noun} without a ${word} is left out: a ${noun} needs a ${word}.`;
    expect(log.mock.calls.map(([level, message]) => `${level} ${message}`)).toEqual([
      nameless,
      nameless,
      `warning Upstream "fs": the ${noun} "a" is left out: there is one of this ${word} already.`,
      nameless,
    ]);
  });

  test("is empty, and not asked for, where the server announces none", async () => {
    const server = announcing(legacyServer({ [method]: () => ({ [name]: [{ [key]: "a" }] }) }), {});
    const { connection } = await connected(server);
    expect(await connection.list(name)).toEqual({ entries: [], ttlMs: 0 });
    expect(server.requests(method)).toEqual([]);
  });

  test("is empty where the server announces some and does not know the method", async () => {
    const { connection } = await serving({});
    expect((await connection.list(name)).entries).toEqual([]);
  });

  test("that cannot be read says which it is", async () => {
    const { connection } = await serving({ [method]: () => ({ [name]: "none" }) });
    expect(await failure(connection.list(name))).toMatchObject({
      code: "Unavailable",
      message: `Upstream "fs" failed while its ${noun}s were listed: its answer to ${method} has no "${name}" array`,
    });
  });
});

test("a list is as fresh as its shortest-lived page; absent, negative and odd times count as none", async () => {
  for (const [first, second, ttlMs] of [
    [500, 300, 300],
    [500, undefined, 0],
    [-1, 300, 0],
    ["1000", 300, 0],
  ]) {
    const { connection } = await serving({
      "prompts/list": ({ cursor }) =>
        cursor === "2" ? { prompts: [], ttlMs: second } : { prompts: [], ttlMs: first, nextCursor: "2" },
    });
    expect((await connection.list("prompts")).ttlMs).toBe(ttlMs);
  }
});

describe.each(eras)("a %s server", (_era, make) => {
  test("reads a resource: its result as it is, its hints for caches too", async () => {
    const result = {
      contents: [{ uri: "x://y", text: "", "x-vendor": 1 }, { blob: "AA==" }],
      ttlMs: 5,
      cacheScope: "private",
      _meta: { "a/b": 1 },
    };
    const { server, connection } = await serving({ "resources/read": () => result }, make);
    expect(await connection.readResource("x://y", ctx)).toEqual(result);
    expect(server.requests("resources/read")[0]?.params).toMatchObject({ uri: "x://y" });
  });

  test("says in two ways that there is no such resource", async () => {
    for (const code of [-32002, -32602]) {
      const { connection } = await serving({ "resources/read": refusing(code) }, make);
      expect(await failure(connection.readResource("x://y", ctx))).toMatchObject({
        code: "NotFound",
        message: "Resource not found: x://y",
      });
    }
  });

  test("gets a prompt: its result as it is", async () => {
    const result = { description: "d", messages: [{ role: "user", content: { type: "odd" } }], "x-v": 1 };
    const { server, connection } = await serving({ "prompts/get": () => result }, make);
    expect(await connection.getPrompt("p", { a: "1" }, ctx)).toEqual(result);
    expect(server.requests("prompts/get")[0]?.params).toMatchObject({ name: "p", arguments: { a: "1" } });
  });

  test("completes an argument: its result as it is", async () => {
    const result = { completion: { values: ["a"], total: 3, hasMore: true }, "x-v": 1 };
    const { server, connection } = await serving({ "completion/complete": () => result }, make);
    const request: CompletionRequest = {
      ref: { type: "ref/resource", uri: "x://{y}" },
      argument: { name: "y", value: "a" },
      context: { arguments: { z: "1" } },
    };
    expect(await connection.complete(request, ctx)).toEqual(result);
    expect(server.requests("completion/complete")[0]?.params).toMatchObject({ ...request });
  });

  test("says what it is, as it said it", async () => {
    const { connection } = await serving({}, make);
    expect(connection.info).toEqual({ capabilities: everything });
  });
});

test("instructions are a part of what a server says", async () => {
  const server = legacyServer();
  const initialize = server.answers["initialize"]!;
  server.answers["initialize"] = async (...asked) => ({
    ...((await initialize(...asked)) as object),
    instructions: "Read first.",
  });
  const { connection } = await connected(server);
  expect(connection.info.instructions).toBe("Read first.");
});

test("an error that is not about the URI travels whole, and so does one about answers", async () => {
  const data = { requiredCapabilities: { sampling: {} } };
  const { connection } = await serving({
    "resources/read": refusing(-32021, "needs sampling", data),
    "prompts/get": refusing(-32602, "needs an argument"),
    "completion/complete": refusing(-32601, "unknown"),
  });
  const whole = (code: number, message: string, more = {}) => ({
    code: "UpstreamError",
    data: { error: { code, message, ...more } },
  });
  expect(await failure(connection.readResource("x://y", ctx))).toMatchObject(
    whole(-32021, "needs sampling", { data }),
  );
  expect(await failure(connection.getPrompt("p", {}, ctx))).toMatchObject(whole(-32602, "needs an argument"));
  const request: CompletionRequest = {
    ref: { type: "ref/prompt", name: "p" },
    argument: { name: "a", value: "" },
  };
  expect(await failure(connection.complete(request, ctx))).toMatchObject(whole(-32601, "unknown"));
  const answered = await serving({ "resources/read": refusing(-32602, "wrong state") });
  const retry = new ToolContext({ answers: { responses: {}, requestState: "s" } });
  expect(await failure(answered.connection.readResource("x://y", retry))).toMatchObject(
    whole(-32602, "wrong state"),
  );
});

test("what is no answer is named", async () => {
  const { connection } = await serving({
    "resources/read": () => ({ contents: "text" }),
    "prompts/get": () => ({}),
    "completion/complete": () => ({ completion: ["a"] }),
  });
  const no = (what: string) => ({ code: "ExecutionFailed", message: expect.stringContaining(what) });
  expect(await failure(connection.readResource("x://y", ctx))).toMatchObject(
    no(
      'Upstream "fs" answered resources/read x://y with something that is no such result: it has no "contents" array.',
    ),
  );
  expect(await failure(connection.getPrompt("p", {}, ctx))).toMatchObject(no('no "messages" array'));
  const request: CompletionRequest = {
    ref: { type: "ref/prompt", name: "p" },
    argument: { name: "a", value: "" },
  };
  expect(await failure(connection.complete(request, ctx))).toMatchObject(no('no "values" array'));
});

test("progress of reading reaches the reader", async () => {
  const heard: Progress[] = [];
  const { server, connection } = await serving({
    "resources/read": (_, { id }) => {
      server.notify("notifications/progress", { progressToken: id, progress: 1 });
      return { contents: [] };
    },
  });
  await connection.readResource("x://y", new ToolContext({ onProgress: (one) => heard.push(one) }));
  expect(heard).toEqual([{ progress: 1 }]);
});
