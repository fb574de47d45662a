import { expect, test } from "vitest";
import type { ToolContext } from "../../core/context.ts";
import type { JsonObject } from "../../core/json.ts";
import { metaKeys } from "../../wire/protocol.ts";
import { callerTo, providerOf, ShellClient } from "../../../test/support/shellClient.ts";

/** The context of a call with this `_meta`, as it came over the wire. */
async function contextWith(meta: string): Promise<ToolContext> {
  let seen: ToolContext | undefined;
  const client = new ShellClient(callerTo(providerOf({ t: (_args, ctx) => ((seen = ctx), "") })));
  await client.initialize({ roots: {} });
  await client.raw(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":${meta}}}`);
  return seen!;
}

test("what a client attaches travels on, without the protocol's and the gateway's own", async () => {
  const own = { progressToken: 1, [metaKeys.clientInfo]: {}, "dev.toolgate/session": "s" };
  const { meta } = await contextWith(JSON.stringify({ traceparent: "t", "x.y/z": {}, ...own }));
  expect(meta).toEqual({ traceparent: "t", "x.y/z": {} });
});

test("a member __proto__ of what a client attaches changes no prototype", async () => {
  const { meta } = await contextWith(
    '{"a":1,"__proto__":{"b":2,"io.modelcontextprotocol/logLevel":"debug"}}',
  );
  expect([Object.keys(meta), Object.getPrototypeOf(meta)]).toEqual([["a"], Object.prototype]);
  expect("b" in meta).toBe(false);
});

test("a session's capabilities are the client's, whatever a request says", async () => {
  const { clientCapabilities } = await contextWith(
    JSON.stringify({ [metaKeys.clientCapabilities + "x"]: {} }),
  );
  expect(clientCapabilities).toEqual({ roots: {} });
});

test("a log of a level that nobody has set begins at info, and a session sets it for the calls to come", async () => {
  const run = (_args: JsonObject, ctx: ToolContext): string => {
    for (const level of ["debug", "info", "error"] as const) ctx.log(level, level);
    return "";
  };
  const client = new ShellClient(callerTo(providerOf({ t: run })));
  await client.initialize();
  await client.ask("tools/call", { name: "t" });
  await client.ask("logging/setLevel", { level: "error" });
  await client.ask("tools/call", { name: "t" });
  expect(client.sent.all.map(({ params }) => params!["data"])).toEqual(["info", "error", "error"]);
});
