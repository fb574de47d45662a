import { join } from "node:path";
import { expect } from "vitest";
import { connectV2Http } from "../support/clients.ts";
import { test } from "../support/e2e.ts";
import { root } from "../support/paths.ts";

const upstream = { command: process.execPath, args: [join(root, "test/fixtures/who.mjs")] };
const principals = {
  ada: { token: "the-token-of-ada-0123" },
  ben: { token: "the-token-of-ben-0123" },
};

test("an isolated server has a process for each principal, a shared one has one for all", async ({
  start,
  closing,
}) => {
  const mcpServers = { own: { ...upstream, isolation: "principal" }, all: upstream };
  const { url } = await start(["serve", "--http", "0"], { config: { mcpServers, principals } });
  const seen: Record<string, string[]> = { own__who: [], all__who: [] };
  for (const { token } of Object.values(principals)) {
    const client = closing(await connectV2Http({ url, token }));
    for (const name of ["own__who", "own__who", "all__who"])
      seen[name]!.push(JSON.stringify((await client.callTool({ name, arguments: {} })).content));
  }
  const [first, again, second, thenAgain] = seen["own__who"]!;
  expect([again, thenAgain]).toEqual([first, second]);
  expect(first).not.toBe(second);
  expect(new Set(seen["all__who"])).toHaveProperty("size", 1);
});
