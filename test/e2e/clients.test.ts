import { expect } from "vitest";
import { connectV1Http, connectV1Stdio, connectV2Http, connectV2Stdio } from "../support/clients.ts";
import type { EraChoice } from "../support/clients.ts";
import { test } from "../support/e2e.ts";
import { inspectorCli } from "../support/inspector.ts";
import { serverScript } from "../support/paths.ts";
import { toolgateCommand } from "../support/toolgate.ts";

// Every official client, over every door that it has, to a reference server behind the gateway.

const config = {
  mcpServers: { every: { command: process.execPath, args: [serverScript("everything"), "stdio"] } },
};
const call = { name: "every__echo", arguments: { message: "hello" } };
const answer = { content: [{ type: "text", text: "Echo: hello" }] };
const eras: EraChoice[] = ["legacy", "modern", "auto"];

test("client 1 over HTTP", async ({ start, closing }) => {
  const client = closing(await connectV1Http(await start(["serve", "--http", "0"], { config })));
  expect(await client.callTool(call)).toMatchObject(answer);
});

test("client 1 over stdio", async ({ folder, closing }) => {
  const client = closing(
    await connectV1Stdio(await toolgateCommand(folder, ["serve", "--stdio"], { config })),
  );
  expect(await client.callTool(call)).toMatchObject(answer);
});

test.for(eras)("client 2 over HTTP, %s", async (era, { start, closing }) => {
  const toolgate = await start(["serve", "--http", "0"], { config });
  const client = closing(await connectV2Http(toolgate, { era }));
  expect(client.getProtocolEra()).toBe(era === "legacy" ? "legacy" : "modern");
  expect(await client.callTool(call)).toMatchObject(answer);
});

test.for(eras)("client 2 over stdio, %s", async (era, { folder, closing }) => {
  const command = await toolgateCommand(folder, ["serve", "--stdio"], { config });
  const client = closing(await connectV2Stdio(command, { era }));
  expect(client.getProtocolEra()).toBe(era === "legacy" ? "legacy" : "modern");
  expect(await client.callTool(call)).toMatchObject(answer);
});

test.for(["legacy", "modern"])("the Inspector over HTTP, %s", async (era, { start, skip }) => {
  const { url, token } = await start(["serve", "--http", "0"], { config });
  const target = ["--server-url", url, "--transport", "http", "--header", `Authorization: Bearer ${token}`];
  const order = ["--method", "tools/call", "--tool-name", call.name, "--tool-arg", "message=hello"];
  const result = await inspectorCli([...target, "--protocol-era", era, ...order], skip);
  expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining("Echo: hello") });
});
