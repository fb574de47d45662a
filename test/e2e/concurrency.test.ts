import type { Client } from "@modelcontextprotocol/client";
import type { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { expect } from "vitest";
import { connectV1Http, connectV1Stdio, connectV2Http, connectV2Stdio } from "../support/clients.ts";
import { fixture, fixturePath, test } from "../support/fixtures.ts";
import { initialize, initialized, legacy, modern } from "../support/rawHttp.ts";
import { toolgateCommand, type Command, type RunningToolgate } from "../support/toolgate.ts";
import type { Witness } from "../support/witness.ts";

// A call waits for nothing but its own tool, and a cancelled one ends there at once.

const config = (witness: Witness) => ({ mcpServers: { up: fixture(witness, "recorder.mjs", "up") } });

interface Way<At> {
  readonly client: string;
  connect(to: At): Promise<Client | ClientV1>;
}

const overHttp: readonly Way<RunningToolgate>[] = [
  { client: "client 1", connect: connectV1Http },
  { client: "client 2, legacy", connect: (to) => connectV2Http(to, { era: "legacy" }) },
  { client: "client 2, modern", connect: (to) => connectV2Http(to, { era: "modern" }) },
];

const overStdio: readonly Way<Command>[] = [
  { client: "client 1", connect: connectV1Stdio },
  { client: "client 2, legacy", connect: (to) => connectV2Stdio(to, { era: "legacy" }) },
  { client: "client 2, modern", connect: (to) => connectV2Stdio(to, { era: "modern" }) },
];

interface Hanging {
  readonly witness: Witness;
  /** Who tells the witness, and what stands before its tools' names. */
  readonly teller: string;
  readonly prefix: string;
}

/** The hanging call ends by its cancellation only: all that is answered before it was not delayed by it. */
async function overtakes(client: Client | ClientV1, { witness, teller, prefix }: Hanging): Promise<void> {
  const controller = new AbortController();
  const call = { name: `${prefix}hang`, arguments: { key: "it" } };
  const slow = hangOn(client, call, controller.signal);
  await witness.heard(`${teller} hang it`);

  const echo = (text: string) => client.callTool({ name: `${prefix}echo`, arguments: { text } });
  expect(await echo("first")).toMatchObject({ content: [{ type: "text", text: "first" }] });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain(call.name);
  const many = await Promise.all(Array.from({ length: 20 }, (_, at) => echo(String(at))));
  expect(many.map(({ content }) => content)).toEqual(
    many.map((_, at) => [{ type: "text", text: String(at) }]),
  );

  expect(witness.lines).not.toContain(`${teller} cancelled it`);
  controller.abort();
  await witness.heard(`${teller} cancelled it`);
  await expect(slow).rejects.toThrow(/abort/i);
  expect(await echo("after")).toMatchObject({ content: [{ type: "text", text: "after" }] });
}

function hangOn(
  client: Client | ClientV1,
  call: { name: string; arguments: { key: string } },
  signal: AbortSignal,
): Promise<unknown> {
  const slow: Promise<unknown> =
    "getProtocolEra" in client
      ? client.callTool(call, { signal })
      : client.callTool(call, undefined, { signal });
  // It may be rejected before anybody looks.
  slow.catch(() => {});
  return slow;
}

test.for(overHttp)(
  "over HTTP, $client: a slow upstream call delays nothing, and its cancellation arrives",
  async ({ connect }, { start, closing, witness }) => {
    const toolgate = await start(["serve", "--http", "0"], { config: config(witness) });
    const client = closing(await connect(toolgate));
    await overtakes(client, { witness, teller: "up", prefix: "up__" });
  },
);

test.for(overStdio)(
  "over stdio, $client: a slow upstream call delays nothing, and its cancellation arrives",
  async ({ connect }, { folder, closing, witness }) => {
    const command = await toolgateCommand(folder, ["serve", "--stdio"], { config: config(witness) });
    await overtakes(closing(await connect(command)), { witness, teller: "up", prefix: "up__" });
  },
);

test.for(overStdio)(
  "a program's own tools, $client: a slow one delays nothing, and its signal is aborted",
  async ({ connect }, { folder, closing, witness }) => {
    const client = closing(await connect(ownTools(folder, witness)));
    await overtakes(client, { witness, teller: "local", prefix: "" });
  },
);

test("what is cancelled gets no answer, and the one after it does", async ({
  folder,
  startLines,
  witness,
}) => {
  const program = startLines(ownTools(folder, witness));
  await program.ask(initialize());
  program.send(initialized);
  for (const request of [legacy, modern]) {
    const key = request.name;
    program.send(request("tools/call", { name: "hang", arguments: { key } }, 5));
    await witness.heard(`local hang ${key}`);
    program.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 5 } });
    await witness.heard(`local cancelled ${key}`);
    const echo = request("tools/call", { name: "echo", arguments: { text: "on" } }, 6);
    expect(await program.ask(echo)).toMatchObject({ id: 6, result: { content: [{ text: "on" }] } });
  }
});

test("when the client leaves, the signals of all its calls are aborted", async ({
  folder,
  startLines,
  witness,
}) => {
  const program = startLines(ownTools(folder, witness));
  const keys = ["a", "b", "c"];
  for (const [id, key] of keys.entries())
    program.send(modern("tools/call", { name: "hang", arguments: { key } }, id));
  await Promise.all(keys.map((key) => witness.heard(`local hang ${key}`)));
  program.leave();
  await Promise.all(keys.map((key) => witness.heard(`local cancelled ${key}`)));
  await witness.allGone();
  expect(await program.exited).toEqual({ code: 0, signal: null });
});

function ownTools(folder: string, witness: Witness): Command {
  const env = { PATH: process.env["PATH"] ?? "", ...witness.env };
  return { command: process.execPath, args: [fixturePath("localTools.mjs")], env, cwd: folder };
}
