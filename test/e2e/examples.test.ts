import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { connectV2Http, connectV2Stdio } from "../support/clients.ts";
import { test } from "../support/e2e.ts";
import { root } from "../support/paths.ts";

const examples = join(root, "examples");

test("every example has a test here", async () => {
  const source = await readFile(join(root, "test/e2e/examples.test.ts"), "utf8");
  const tested = Array.from(source.matchAll(/^test\("examples\/([\w.-]+)/gm), ([, name]) => name!);
  expect((await readdir(examples)).toSorted()).toEqual(tested.toSorted());
});

test("examples/own-tool.mjs serves its tool to a client that starts it", async ({ folder, closing }) => {
  const command = { command: process.execPath, args: [join(examples, "own-tool.mjs")], env: {}, cwd: folder };
  const client = closing(await connectV2Stdio(command));
  const { tools } = await client.listTools();
  expect(tools).toMatchObject([{ name: "add", description: "Adds two numbers." }]);
  expect(await client.callTool({ name: "add", arguments: { a: 2, b: 3 } })).toMatchObject({
    content: [{ type: "text", text: "5" }],
  });
  expect(await client.callTool({ name: "add", arguments: { a: 2 } })).toMatchObject({ isError: true });
});

test("examples/in-process.mjs prints what its comments say", async ({ folder }) => {
  const file = join(examples, "in-process.mjs");
  const source = await readFile(file, "utf8");
  const said = Array.from(source.matchAll(/^\/\/ prints: (.*\n)/gm), ([, line]) => line).join("");
  const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder });
  expect(said).not.toBe("");
  expect(stdout).toBe(said);
});

test("examples/mcp-servers: every server of its configuration answers", async ({ start, closing }) => {
  const config = join(examples, "mcp-servers/toolgate.json");
  const client = closing(await connectV2Http(await start(["serve", "--http", "0", "--config", config])));
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  for (const namespace of ["builtin", "fs", "memory"])
    expect(names).toContainEqual(expect.stringMatching(`^${namespace}__`));

  const call = async (name: string, args: Record<string, unknown>): Promise<unknown> => {
    const result = await client.callTool({ name, arguments: args });
    return { isError: result.isError ?? false, text: JSON.stringify(result.content) };
  };
  const shows = (text: string): unknown => ({ isError: false, text: expect.stringContaining(text) });
  expect(await call("builtin__file_read", { path: "toolgate.json" })).toEqual(shows("mcpServers"));
  expect(await call("fs__list_directory", { path: "." })).toEqual(shows("toolgate.json"));
  const ada = { name: "Ada", entityType: "person", observations: ["wrote the first program"] };
  // Its file lies below HOME, which is this test's own folder.
  expect(await call("memory__create_entities", { entities: [ada] })).toEqual(shows("Ada"));
  expect(await call("memory__search_nodes", { query: "program" })).toEqual(shows("Ada"));
});
