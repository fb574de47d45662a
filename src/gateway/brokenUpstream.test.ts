import { expect, test } from "vitest";
import { ToolContext } from "../core/context.ts";
import { parseConfig } from "./config.ts";
import { createGateway } from "./gateway.ts";

const text = JSON.stringify({
  mcpServers: { tickets: { url: "https://x.example/mcp", headers: { a: "${TICKETS_TOKEN}" } } },
  tools: { file: true },
});
const reason = 'the environment variable TICKETS_TOKEN is not set. Set it, or set "disabled": true.';

test("a server that lacks a variable has failed with the reason, and the rest works", async () => {
  const { config } = parseConfig(text, { file: "/tmp/toolgate.json", env: {} });
  const gateway = await createGateway(config, { log: () => {} });
  try {
    gateway.start();
    await gateway.settled();
    expect(gateway.upstreams()).toEqual([
      { namespace: "tickets", state: "failed", error: reason, restarts: 0 },
    ]);
    const context = new ToolContext();
    const names = (await gateway.caller.list(context)).map(({ name }) => name);
    expect(names).toEqual(["builtin__file_read", "builtin__file_write"]);
    const outcome = await gateway.caller.call(
      { kind: "tools/call", name: "tickets__list", arguments: {} },
      context,
    );
    expect(JSON.stringify(outcome)).toContain(
      JSON.stringify(`Upstream "tickets" cannot be used: ${reason}`).slice(1, -1),
    );
  } finally {
    await gateway.close();
  }
});
