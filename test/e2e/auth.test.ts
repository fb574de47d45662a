import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import { connectV2Http } from "../support/clients.ts";
import { test } from "../support/e2e.ts";
import { serveOAuth, type OAuthServer } from "../support/oauthServer.ts";
import { root } from "../support/paths.ts";
import { waitUntil } from "../support/processes.ts";
import { runProgram } from "../support/runProgram.ts";
import { toolgateCommand } from "../support/toolgate.ts";

const servers: OAuthServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(): Promise<OAuthServer> {
  const server = await serveOAuth();
  servers.push(server);
  return server;
}

/** A browser in which everything is agreed to. */
const env = { BROWSER: `${process.execPath} ${join(root, "test/fixtures/browser.mjs")}` };

test("toolgate auth signs in; the gateway that runs already uses the tokens, refreshes them, and shows none", async ({
  folder,
  start,
  closing,
}) => {
  const server = await serve();
  const config = { mcpServers: { it: { url: server.url } } };
  const toolgate = await start(["serve", "--http", "0", "--no-auth"], { config });
  const said = (text: string): Promise<void> => waitUntil(() => toolgate.output().includes(text), text);
  await said('it wants somebody to sign in. Run "toolgate auth it";');

  const signedIn = await runProgram(await toolgateCommand(folder, ["auth", "it"], { config, env }));
  expect(signedIn).toMatchObject({ code: 0, stderr: "" });
  expect(signedIn.stdout).toMatch(/Signed in to "it"\. The tokens are in \S+\/toolgate\/oauth\/it-\w+\.json/);

  await said("ready    it: 1 tool, modern 2026-07-28");
  const client = closing(await connectV2Http({ url: toolgate.url }));
  const hello = { name: "it__hello", arguments: {} };
  expect(await client.callTool(hello)).toMatchObject({ content: [{ text: "hello" }] });
  server.oauth.expire();
  expect(await client.callTool(hello)).toMatchObject({ content: [{ text: "hello" }] });
  expect(server.oauth.forms.map((form) => form.get("grant_type"))).toEqual([
    "authorization_code",
    "refresh_token",
  ]);
  const shown = [toolgate.output(), toolgate.log(), signedIn.stdout].join("");
  expect(shown).not.toMatch(/access-\d|refresh-\d|the-code/);
});

test("Ctrl-C ends a sign-in that waits for a browser", async ({ folder }) => {
  const server = await serve();
  const config = { mcpServers: { it: { url: server.url } } };
  const { command, args, ...options } = await toolgateCommand(folder, ["auth", "it", "--no-browser"], {
    config,
  });
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  for await (const chunk of child.stdout) if (String(chunk).includes("Ctrl-C gives up")) break;
  child.kill("SIGINT");
  expect(await exited).toEqual([130, null]);
  expect(server.oauth.forms).toEqual([]);
});
