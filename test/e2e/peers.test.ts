import { execFileSync } from "node:child_process";
import { expect } from "vitest";
import { connectV1Stdio, connectV2Stdio } from "../support/clients.ts";
import { test } from "../support/e2e.ts";
import { inspectorCli } from "../support/inspector.ts";
import { serverScript } from "../support/paths.ts";
import { needs } from "../support/tools.ts";

// The peers with each other, without Toolgate: when this fails, look for the fault there.

test("Node 24 is there", ({ skip }) => {
  expect(execFileSync(needs("node24", skip), ["--version"], { encoding: "utf8" })).toMatch(/^v24\./);
});

test("both official clients list the tools of the everything server", async ({ folder, closing }) => {
  const command = {
    command: process.execPath,
    args: [serverScript("everything"), "stdio"],
    env: {},
    cwd: folder,
  };
  const v1 = await closing(await connectV1Stdio(command)).listTools();
  const v2 = await closing(await connectV2Stdio(command)).listTools();
  expect(v1.tools.map((tool) => tool.name)).toContain("echo");
  expect(v2.tools.map((tool) => tool.name)).toEqual(v1.tools.map((tool) => tool.name));
});

test("the Inspector calls a tool of the everything server", async ({ skip }) => {
  const call = ["--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=hello"];
  const result = await inspectorCli([process.execPath, serverScript("everything"), ...call], skip);
  expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining("Echo: hello") });
});
