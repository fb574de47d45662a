import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FakeIo, type FakeIoOptions } from "../../test/support/fakeIo.ts";
import { ToolError, type ToolErrorCode } from "../core/errors.ts";
import { ToolResult, type InputRequired } from "../core/result.ts";

const answers =
  (result: ToolResult): NonNullable<FakeIoOptions["call"]> =>
  async () => ({ type: "result", result });

const fails =
  (code: ToolErrorCode, message: string): NonNullable<FakeIoOptions["call"]> =>
  async () => ({ type: "error", error: new ToolError(code, message) });

const echo: NonNullable<FakeIoOptions["call"]> = async ({ name, arguments: args }) => ({
  type: "result",
  result: ToolResult.success(`${name} ${JSON.stringify(args)}`),
});

test.each([
  [["call", "fs__read", '{"path":"a"}'], 'fs__read {"path":"a"}\n'],
  [["call", "fs__read"], "fs__read {}\n"],
  [["call", "--", "fs__read", "-"], 'fs__read {"from":"stdin"}\n'],
])("%j calls the tool and prints its text", async (argv, output) => {
  const io = new FakeIo({ call: echo, stdin: '{"from":"stdin"}' });
  expect(await io.run(...argv)).toBe(0);
  expect(io.stdout.text).toBe(output);
  expect(io.stderr.text).toBe("");
  expect(io.events).toEqual(["start", "call", "close gateway"]);
});

test("the call has the workspace of the configuration", async () => {
  let workspace: string | undefined;
  const io = new FakeIo({
    cwd: "/nowhere",
    call: async (_, ctx) => {
      workspace = ctx.workspacePath;
      return { type: "result", result: ToolResult.success("") };
    },
  });
  await io.run("call", "builtin__file");
  expect(workspace).toBe("/nowhere");
});

test("only the server that the name says is started; all where it says none", async () => {
  const folder = await mkdtemp(join(tmpdir(), "toolgate-call-"));
  try {
    const file = join(folder, "toolgate.json");
    await writeFile(file, JSON.stringify({ mcpServers: { fs: { command: "a" }, git: { command: "b" } } }));
    for (const [name, started] of [
      ["fs__read", ["fs"]],
      ["read", ["fs", "git"]],
      ["other__read", ["fs", "git"]],
    ] as const) {
      const io = new FakeIo({ call: answers(ToolResult.success("")) });
      await io.run("call", name, "--config", file);
      expect(io.config?.upstreams.map(({ namespace }) => namespace)).toEqual(started);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a result that is an error ends with 1", async () => {
  const io = new FakeIo({ call: answers(ToolResult.error("no such file")) });
  expect(await io.run("call", "fs__read")).toBe(1);
  expect(io.stdout.text).toBe("no such file\n");
});

test("--json prints the whole result as a client gets it", async () => {
  const result = { ...ToolResult.structured({ a: 1 }), extra: { later: true }, metadata: { inside: "only" } };
  const io = new FakeIo({ call: answers(result) });
  expect(await io.run("call", "a__b", "--json")).toBe(0);
  expect(JSON.parse(io.stdout.text)).toEqual({
    content: [{ type: "text", text: '{"a":1}' }],
    structuredContent: { a: 1 },
    later: true,
  });
});

test.each([["a__b"], ["a__b", "--json"]])(
  "a result in another form is printed as it is: %s %s",
  async (...argv) => {
    const value = { resultType: "task", task: { taskId: "7" } };
    const io = new FakeIo({ call: async () => ({ type: "result", result: { type: "raw", value } }) });
    expect(await io.run("call", ...argv)).toBe(0);
    expect(JSON.parse(io.stdout.text)).toEqual(value);
  },
);

test.each<[InputRequired, string]>([
  [
    {
      type: "input_required",
      inputRequests: {
        a: { method: "elicitation/create", params: {} },
        b: { method: "elicitation/create", params: {} },
        c: { method: "roots/list", params: {} },
      },
    },
    " (elicitation/create, roots/list)",
  ],
  [{ type: "input_required", requestState: "later" }, ""],
])(
  "a tool that asks for input cannot be answered here, which is said, and ends with 1",
  async (asked, what) => {
    const io = new FakeIo({ call: async () => ({ type: "input_required", canonicalName: "a__b", asked }) });
    expect(await io.run("call", "a__b")).toBe(1);
    expect(io.stdout.text).toBe("");
    expect(io.stderr.text).toBe(
      `error a__b asks for input${what}, which the command line cannot answer yet. ` +
        "Call it from an MCP client that can.\n",
    );
  },
);

test("what is not text is named, and text cannot command a terminal", async () => {
  const content: ToolResult["content"] = [
    { type: "image", data: "AAAA", mimeType: "image/png" },
    { type: "resource_link", uri: "file:///a", name: "a" },
    { type: "resource", resource: { uri: "file:///b", text: "inside" } },
    { type: "resource", resource: { uri: "file:///c", blob: "AA==" } },
    { type: "text", text: "\u001B[2Jclear" },
  ];
  const io = new FakeIo({ call: answers({ content }), isTTY: true });
  expect(await io.run("call", "a__b")).toBe(0);
  expect(io.stdout.text.split("\n")).toEqual([
    "[image image/png, 4 characters of base64: --json shows it]",
    "[link file:///a]",
    "inside",
    "[resource file:///c: --json shows it]",
    "[2Jclear",
    "",
  ]);
  const piped = new FakeIo({ call: answers({ content: content.slice(-1) }) });
  await piped.run("call", "a__b");
  expect(piped.stdout.text).toBe("\u001B[2Jclear\n");
});

test("structured content is printed where there is nothing else", async () => {
  const io = new FakeIo({ call: answers({ content: [], structuredContent: [1] }) });
  await io.run("call", "a__b");
  expect(JSON.parse(io.stdout.text)).toEqual([1]);
});

test.each<[ToolErrorCode, number]>([
  ["NotFound", 2],
  ["UpstreamError", 1],
  ["TooManyRequests", 1],
])("%s is one line on standard error and ends with %i", async (code, exit) => {
  const io = new FakeIo({ call: fails(code, "what happened") });
  expect(await io.run("call", "a__b")).toBe(exit);
  expect(io.stderr.text).toMatch(/^error what happened.*\n$/);
  expect(io.stdout.text).toBe("");
});

test.each<[ToolErrorCode, number]>([
  ["InvalidArguments", 2],
  ["Unavailable", 3],
  ["ExecutionFailed", 1],
  ["PermissionDenied", 1],
])("%s, which an agent gets as a result, is printed as one and ends with %i", async (code, exit) => {
  const result = ToolResult.withMetadata(ToolResult.error("what happened"), { code });
  const io = new FakeIo({ call: answers(result) });
  expect(await io.run("call", "a__b")).toBe(exit);
  expect(io.stdout.text).toBe("what happened\n");
});

test("an unknown tool is answered with the nearest name", async () => {
  const tools = [{ name: "fs__read_file", inputSchema: {} }];
  const io = new FakeIo({ call: fails("NotFound", "Unknown tool: fs__readfile"), tools });
  expect(await io.run("call", "fs__readfile")).toBe(2);
  expect(io.stderr.text).toBe('error Unknown tool: fs__readfile. Did you mean "fs__read_file"?\n');
});

test("a tool of an upstream that failed is out of reach, and why is said", async () => {
  const upstreams = [
    { namespace: "fs", state: "failed", error: "spawn ENOENT", restarts: 0 },
    { namespace: "gh", state: "failed", error: "401", restarts: 0 },
  ] as const;
  const io = new FakeIo({ call: fails("NotFound", "Unknown tool: fs__read"), upstreams });
  expect(await io.run("call", "fs__read")).toBe(3);
  expect(io.stderr.text).toContain("failed   fs: spawn ENOENT\n");
  expect(io.stderr.text).not.toContain("gh");
});

test("waits for the tool's own upstream and for no other", async () => {
  const io = new FakeIo({
    call: echo,
    upstreams: [
      { namespace: "fs", state: "starting", restarts: 0 },
      { namespace: "slow", state: "starting", restarts: 0 },
    ],
  });
  const running = io.run("call", "fs__read");
  await io.started;
  io.upstream({ namespace: "fs", state: "ready", restarts: 0 });
  expect(await running).toBe(0);
  expect(io.events).toEqual(["start", "fs ready", "call", "close gateway"]);
});

test("waits for every upstream where the name does not say whose it is", async () => {
  const io = new FakeIo({ call: echo, upstreams: [{ namespace: "fs", state: "starting", restarts: 0 }] });
  const running = io.run("call", "read");
  await io.started;
  io.upstream({ namespace: "fs", state: "ready", restarts: 0 });
  expect(await running).toBe(0);
  expect(io.events).toEqual(["start", "fs ready", "call", "close gateway"]);
});

const reports: NonNullable<FakeIoOptions["call"]> = async (_, ctx) => {
  ctx.progress({ progress: 1, total: 2, message: "half" });
  ctx.log("info", { a: 1 }, "tool");
  ctx.progress({ progress: 2 });
  return { type: "result", result: ToolResult.success("done") };
};

test("progress and the tool's log are plain lines where there is no terminal", async () => {
  const io = new FakeIo({ call: reports });
  expect(await io.run("call", "a__b")).toBe(0);
  expect(io.stderr.text).toBe('1/2 half\ninfo tool: {"a":1}\n2\n');
  expect(io.stdout.text).toBe("done\n");
});

test("progress is one line that is redrawn and goes away on a terminal", async () => {
  const io = new FakeIo({ call: reports, isTTY: true, env: { NO_COLOR: "1" } });
  await io.run("call", "a__b");
  const clear = "\r\u001B[2K";
  expect(io.stderr.text).toBe(
    `${clear}1/2 half${clear}info tool: {"a":1}\n${clear}1/2 half${clear}2${clear}`,
  );
});

test("a signal cancels the call and ends in order with 130, the second at once", async () => {
  let cancelled: unknown;
  let called = (): void => {};
  const calling = new Promise<void>((resolve) => (called = resolve));
  const io = new FakeIo({
    call: (_, { cancellation }) =>
      new Promise(() => {
        cancellation.onCancel((reason) => (cancelled = reason));
        called();
      }),
  });
  const running = io.run("call", "a__b");
  await calling;
  io.interrupt();
  io.interrupt();
  expect(await running).toBe(130);
  expect(cancelled).toBe("interrupted");
  expect(io.exits).toEqual([130]);
  expect(io.events).toEqual(["start", "call", "close gateway"]);
  expect(io.interruptible).toBe(false);
});
