import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { connectV1Http, connectV1Stdio, connectV2Http, connectV2Stdio } from "../support/clients.ts";
import type { EraChoice } from "../support/clients.ts";
import { test } from "../support/e2e.ts";
import { inspectorCli } from "../support/inspector.ts";
import { serverScript } from "../support/paths.ts";
import { toolgateCommand, type ToolgateOptions } from "../support/toolgate.ts";

// Every official client, in each of its eras, over each door that it has, to three reference servers behind the gateway.

const eras: EraChoice[] = ["legacy", "modern", "auto"];

interface Connected {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}

/** All three servers, with a file for the file server to read. */
async function threeServers(folder: string): Promise<ToolgateOptions> {
  const files = join(folder, "files");
  await mkdir(files);
  await writeFile(join(files, "note.txt"), "written before");
  const server = (name: Parameters<typeof serverScript>[0], ...args: string[]) => ({
    command: process.execPath,
    args: [serverScript(name), ...args],
  });
  const memory = { ...server("memory"), env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") } };
  return {
    config: { mcpServers: { every: server("everything", "stdio"), fs: server("filesystem", files), memory } },
  };
}

/** Lists and calls tools of all three. */
async function useAll(client: Connected, folder: string): Promise<void> {
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  expect(names).toEqual(expect.arrayContaining(["every__echo", "fs__read_text_file", "memory__read_graph"]));
  const text = (answer: string) => ({ content: [{ type: "text", text: answer }] });
  const echo = { name: "every__echo", arguments: { message: "hello" } };
  expect(await client.callTool(echo)).toMatchObject(text("Echo: hello"));
  const read = { name: "fs__read_text_file", arguments: { path: join(folder, "files", "note.txt") } };
  expect(await client.callTool(read)).toMatchObject(text("written before"));
  const entity = { name: "Ada", entityType: "person", observations: ["wrote the first program"] };
  await client.callTool({ name: "memory__create_entities", arguments: { entities: [entity] } });
  const graph = await client.callTool({ name: "memory__read_graph", arguments: {} });
  expect(graph).toMatchObject({ structuredContent: { entities: [entity] } });
}

test("client 1 over HTTP", async ({ folder, start, closing }) => {
  const toolgate = await start(["serve", "--http", "0"], await threeServers(folder));
  await useAll(closing(await connectV1Http(toolgate)) as Connected, folder);
});

test("client 1 over stdio", async ({ folder, closing }) => {
  const command = await toolgateCommand(folder, ["serve", "--stdio"], await threeServers(folder));
  await useAll(closing(await connectV1Stdio(command)) as Connected, folder);
});

test.for(eras)("client 2 over HTTP, %s", async (era, { folder, start, closing }) => {
  const toolgate = await start(["serve", "--http", "0"], await threeServers(folder));
  const client = closing(await connectV2Http(toolgate, { era }));
  expect(client.getProtocolEra()).toBe(era === "legacy" ? "legacy" : "modern");
  await useAll(client, folder);
});

test.for(eras)("client 2 over stdio, %s", async (era, { folder, closing }) => {
  const command = await toolgateCommand(folder, ["serve", "--stdio"], await threeServers(folder));
  const client = closing(await connectV2Stdio(command, { era }));
  expect(client.getProtocolEra()).toBe(era === "legacy" ? "legacy" : "modern");
  await useAll(client, folder);
});

/** What the Inspector is asked to do, and what its output then holds. */
const orders = (folder: string): [string[], string][] => [
  [["--method", "tools/list"], "memory__read_graph"],
  [["--method", "tools/call", "--tool-name", "every__echo", "--tool-arg", "message=hello"], "Echo: hello"],
  [
    [
      "--method",
      "tools/call",
      "--tool-name",
      "fs__read_text_file",
      "--tool-arg",
      `path=${join(folder, "files", "note.txt")}`,
    ],
    "written before",
  ],
  [["--method", "tools/call", "--tool-name", "memory__read_graph"], "entities"],
];

test.for(["legacy", "modern"])("the Inspector over HTTP, %s", async (era, { folder, start, skip }) => {
  const { url, token } = await start(["serve", "--http", "0"], await threeServers(folder));
  const target = ["--server-url", url, "--transport", "http", "--header", `Authorization: Bearer ${token}`];
  for (const [order, expected] of orders(folder)) {
    const result = await inspectorCli([...target, "--protocol-era", era, ...order], skip);
    expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining(expected) });
  }
});

test("the Inspector over stdio", async ({ folder, skip }) => {
  const { command, args } = await toolgateCommand(folder, ["serve", "--stdio"], await threeServers(folder));
  // Through a shell: the Inspector would take --config for itself.
  const line = [command, ...args].map((word) => `'${word}'`).join(" ");
  for (const [order, expected] of orders(folder)) {
    const result = await inspectorCli(["sh", "-c", `exec ${line}`, ...order], skip);
    expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining(expected) });
  }
});

test("the list is the same bytes in every run", async ({ folder, start }) => {
  const options = await threeServers(folder);
  const once = async (): Promise<string> => {
    const toolgate = await start(["serve", "--http", "0"], options);
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const response = await fetch(toolgate.url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/list",
        Authorization: `Bearer ${toolgate.token}`,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta } }),
    });
    const text = await response.text();
    await toolgate.stop();
    return text;
  };
  const first = await once();
  expect(first).toContain("every__echo");
  expect(await once()).toBe(first);
  expect(await once()).toBe(first);
});
