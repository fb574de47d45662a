import type { CallToolResult } from "@modelcontextprotocol/client";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect } from "vitest";
import { connectV1Http, connectV2Http } from "../support/clients.ts";
import { endsWhole, fixture, test } from "../support/fixtures.ts";
import { waitUntil } from "../support/processes.ts";
import type { Witness } from "../support/witness.ts";

// One upstream does what it must not, beside a healthy one: that one notices nothing.

interface Fault {
  /** The mode of `fixtures/misbehaving.mjs`. */
  readonly fault: string;
  /** What a call of its tool answers, or a part of it. */
  readonly answer: string | RegExp;
  /** The call is an error. */
  readonly isError?: true;
  /** The tool is not even listed. */
  readonly isUnlisted?: true;
  /** It goes on until the test says that it is enough. */
  readonly lasts?: true;
  readonly entry?: { readonly startTimeoutMs?: number; readonly timeoutMs?: number };
}

const done = /^done$/;
const upstreamMessageBytes = 1_000_000;
const failed = { isError: true } as const;
const failedToStart = { isError: true, isUnlisted: true } as const;
const noAnswer = {
  ...failed,
  entry: { timeoutMs: 300 },
  answer: /^bad__go did not answer within 0\.3 s\. /,
} as const;
const cannotConnect = 'Upstream "bad" could not be connected: ';
const whileListing = 'Upstream "bad" failed while its tools were listed: ';
const whileCalling = 'Upstream "bad" failed while go was called: ';
const tooLong = `a message was longer than the limit of ${upstreamMessageBytes} bytes.`;

const faults: readonly Fault[] = [
  {
    fault: "answers nothing",
    ...failedToStart,
    entry: { startTimeoutMs: 300 },
    answer: `${cannotConnect}it did not finish its handshake within 300 ms`,
  },
  {
    fault: "exits at once",
    ...failedToStart,
    answer: `${cannotConnect}the process exited with code 7; its last words: no licence`,
  },
  { fault: "dies of the first request that it does not know", answer: done },
  {
    fault: "exits during a call",
    ...failed,
    answer: `${whileCalling}the process exited with code 3; its last words: no licence`,
  },
  { fault: "prints garbage between its messages", answer: done },
  { fault: "answers a call with garbage", ...noAnswer },
  { fault: "floods its standard error", lasts: true, answer: done },
  { fault: "floods notifications", lasts: true, answer: done },
  { fault: "never ends its line", lasts: true, ...failed, answer: whileCalling + tooLong },
  { fault: "answers with a message over the limit", ...failed, answer: whileCalling + tooLong },
  { fault: "answers wrong ids", ...noAnswer },
  { fault: "answers twice", answer: done },
  { fault: "logs what is nested too deep to be written", answer: done },
  {
    fault: "lists what is nested too deep to be written",
    ...failedToStart,
    answer: `${whileListing}its answer is not a JSON-RPC response`,
  },
  {
    fault: "lists pages without end",
    ...failedToStart,
    answer: `${whileListing}tools/list has more than 1000 pages`,
  },
  {
    fault: "lists the same page for ever",
    ...failedToStart,
    answer: `${whileListing}tools/list gave the same cursor twice: its pages would never end`,
  },
  {
    fault: "lists what is no list",
    ...failedToStart,
    answer: `${whileListing}its answer to tools/list has no "tools" array`,
  },
  { fault: "lists a name twice, and tools that are none", answer: done },
  { fault: "lists tools for which clients refuse the whole list", answer: done },
  {
    fault: "speaks no revision that is known",
    ...failedToStart,
    answer: /^Upstream "bad" could not be connected: no common revision of MCP: it speaks "1999-01-01", /,
  },
  {
    fault: "answers a call with a result that is no object",
    ...failed,
    answer: `${whileCalling}its answer is not a JSON-RPC response`,
  },
  {
    fault: "answers a call with a result that is no tool result",
    ...failed,
    answer: /^Upstream "bad" answered go with something that is no tool result: /,
  },
  {
    fault: "answers a call with questions that are none",
    ...failed,
    answer: /^Upstream "bad" answered go with "input_required", but without questions that can be read/,
  },
  { fault: "asks a thousand questions at once, and some of nobody", answer: done },
  { fault: "tells of changes of what nobody has asked about", answer: done },
  { fault: "has prompts and resources that cannot be listed", answer: done },
  // Whether the pipe breaks depends on who else holds it.
  {
    fault: "closes its standard input",
    ...noAnswer,
    answer: /^(bad__go did not answer within 0\.3 s\. |Upstream "bad" failed while go was called: )/,
  },
  {
    fault: "closes its standard output",
    ...noAnswer,
    answer: /^(bad__go did not answer within 0\.3 s\. |Upstream "bad" )/,
  },
];

const withBad = (witness: Witness, fault: string, entry: Fault["entry"] = {}) => ({
  limits: { upstreamMessageBytes },
  mcpServers: {
    bad: { ...fixture(witness, "misbehaving.mjs", fault), ...entry },
    good: fixture(witness, "recorder.mjs", "good"),
  },
});

function textOf({ content }: CallToolResult): string {
  return content.map((one) => (one.type === "text" ? one.text : one.type)).join("\n");
}

// Side by side: some wait their time out.
describe.concurrent("upstreams", () => {
  test.for(faults)(
    "an upstream that $fault harms no other",
    async ({ fault, answer, isError, isUnlisted, lasts, entry }, { start, closing, witness }) => {
      const config = withBad(witness, fault, entry);
      const toolgate = await start(["serve", "--http", "0"], { config });
      const client = closing(await connectV2Http(toolgate, { era: "modern" }));
      const echo = (text: string) => client.callTool({ name: "good__echo", arguments: { text } });

      const callBad = () => client.callTool({ name: "bad__go", arguments: {} });
      // One that cannot start is called when Toolgate has given the start up.
      const call = isUnlisted ? undefined : callBad();
      if (lasts) await witness.heard("bad floods");
      expect(await echo("meanwhile")).toMatchObject({ content: [{ text: "meanwhile" }] });
      const names = (await client.listTools()).tools.map(({ name }) => name);
      const others = ["good__echo", "good__hang", "good__release"];
      expect(names).toEqual(isUnlisted ? others : ["bad__go", ...others]);
      if (lasts) witness.say("bad", "enough");

      if (isUnlisted) await waitUntil(() => toolgate.output().includes("failed   bad: "), "it says so");

      const result = await (call ?? callBad());
      expect(textOf(result)).toMatch(answer);
      expect(result.isError).toBe(isError);
      expect(await echo("afterwards")).toMatchObject({ content: [{ text: "afterwards" }] });
      await endsWhole(toolgate.pid, witness, toolgate.stop);
      expect(await toolgate.exited).toEqual({ code: 0, signal: null });
    },
  );

  test("what exits during a call is started again, and serves", async ({ start, closing, witness }) => {
    const toolgate = await start(["serve", "--http", "0"], {
      config: withBad(witness, "exits during a call"),
    });
    const client = closing(await connectV2Http(toolgate, { era: "modern" }));
    expect(await client.callTool({ name: "bad__go" })).toMatchObject({ isError: true });
    await witness.heard("bad started", 2);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("bad__go");
    await endsWhole(toolgate.pid, witness, toolgate.stop);
  });

  test("a slow start holds up its own calls only; what it lists is told when it is there", async ({
    start,
    closing,
    witness,
  }) => {
    const toolgate = await start(["serve", "--http", "0"], { config: withBad(witness, "starts slowly") });
    const client = closing(await connectV1Http(toolgate));
    await witness.heard("bad started");
    expect(await client.callTool({ name: "good__echo", arguments: { text: "good" } })).toMatchObject({
      content: [{ text: "good" }],
    });

    // A first list waits a while for who is still starting, and then does without.
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    expect(await names()).toEqual(["good__echo", "good__hang", "good__release"]);
    expect(await client.callTool({ name: "bad__go" })).toMatchObject({
      isError: true,
      content: [{ text: 'Upstream "bad" is still starting. Try again in a moment.' }],
    });

    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
    });
    witness.say("bad", "go on");
    await changed;
    expect(await names()).toEqual(["bad__go", "good__echo", "good__hang", "good__release"]);
    expect(await client.callTool({ name: "bad__go" })).toMatchObject({ content: [{ text: "done" }] });
    await endsWhole(toolgate.pid, witness, toolgate.stop);
  });

  test("what is left out of a list is in the log, with whose it is and why", async ({ start, witness }) => {
    const fault = "lists a name twice, and tools that are none";
    const toolgate = await start(["serve", "--http", "0"], { config: withBad(witness, fault) });
    const complaints = () =>
      Array.from(toolgate.log().matchAll(/ warning bad: (.*)$/gm), ([, complaint]) => complaint);
    await waitUntil(() => complaints().length === 5, "it complains of each");
    expect(complaints()).toEqual([
      'Upstream "bad": the tool "go" is left out: there is one of this name already.',
      'Upstream "bad": the tool "bare" is left out: its inputSchema is no object.',
      'Upstream "bad": the tool without a name is left out: a tool needs a name.',
      'Upstream "bad": the tool without a name is left out: a tool needs a name.',
      'Upstream "bad": the tool "" is left out: a tool needs a name.',
    ]);
    await endsWhole(toolgate.pid, witness, toolgate.stop);
  });
});
