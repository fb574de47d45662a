import { expect, test } from "vitest";
import { FakeIo, type FakeIoOptions } from "../../test/support/fakeIo.ts";

const tools: FakeIoOptions["tools"] = [
  {
    name: "builtin__file",
    description: "Reads and writes files.\nStays inside the workspace.",
    inputSchema: {},
  },
  { name: "gh__search", description: `Searches ${"very ".repeat(30)}much`, inputSchema: {}, extra: true },
];

test("prints a table that a person can read, cut to the terminal, and a count", async () => {
  const io = new FakeIo({ tools, columns: 50 });
  expect(await io.run("tools")).toBe(0);
  expect(io.stdout.text).toBe(
    [
      "NAME           FROM     DESCRIPTION",
      "builtin__file  builtin  Reads and writes files. S…",
      "gh__search     gh       Searches very very very v…",
      "2 tools from 2 sources",
      "",
    ].join("\n"),
  );
  expect(io.events).toEqual(["start", "list", "close gateway"]);
});

test("--json prints the tools exactly as MCP lists them", async () => {
  const io = new FakeIo({ tools });
  expect(await io.run("tools", "--json")).toBe(0);
  expect(JSON.parse(io.stdout.text)).toEqual(tools);
});

test("waits for upstreams, names those that failed on standard error and ends with 3", async () => {
  const io = new FakeIo({
    tools,
    upstreams: [
      { namespace: "gh", state: "starting", restarts: 0 },
      { namespace: "fs", state: "failed", error: "no such\ncommand", restarts: 0 },
    ],
  });
  const running = io.run("tools", "--json");
  await io.started;
  io.upstream({ namespace: "gh", state: "ready", tools: 1, restarts: 0 });
  expect(await running).toBe(3);
  expect(io.events).toEqual(["start", "gh ready", "list", "close gateway"]);
  expect(io.stderr.text).toBe("failed   fs: no such command\n");
  expect(JSON.parse(io.stdout.text)).toHaveLength(2);
});

test("nothing to list is said", async () => {
  const io = new FakeIo();
  expect(await io.run("tools")).toBe(0);
  expect(io.stdout.text).toBe("0 tools\n");
});

test("nothing to list, since a server failed, is said with how many did", async () => {
  const failed = { namespace: "fs", state: "failed", error: "gone", restarts: 0 } as const;
  const none = new FakeIo({ upstreams: [failed] });
  expect(await none.run("tools")).toBe(3);
  expect(none.stdout.text).toBe("0 tools; 1 server failed\n");
  const some = new FakeIo({ tools, upstreams: [failed] });
  await some.run("tools");
  expect(some.stdout.text).toMatch(/\n2 tools from 2 sources; 1 server failed\n$/);
});

test("a terminal gets colours, unless NO_COLOR is set", async () => {
  const plain = new FakeIo({ tools, isTTY: true, env: { NO_COLOR: "1" } });
  const coloured = new FakeIo({ tools, isTTY: true });
  await Promise.all([plain.run("tools"), coloured.run("tools")]);
  expect(plain.stdout.text).not.toContain("\u001B");
  expect(coloured.stdout.text).toContain("\u001B[1mNAME");
});
