import { describe, expect } from "vitest";
import { endsWhole, fixture, test } from "../support/fixtures.ts";
import { http, initialize, initialized, legacy, modern, modernPost } from "../support/rawHttp.ts";
import { open, openSession } from "../support/rawHttp.ts";
import { runProgram } from "../support/runProgram.ts";
import { toolgateCommand, type ToolgateOptions } from "../support/toolgate.ts";
import type { Witness } from "../support/witness.ts";

// Whatever ends Toolgate, its client or a call: nothing is left behind.

const families = (witness: Witness) => ({
  mcpServers: { one: fixture(witness, "family.mjs"), two: fixture(witness, "family.mjs") },
});

async function bothFamilies(witness: Witness): Promise<void> {
  await Promise.all(["parent", "child", "detached"].map((member) => witness.heard(`${member} started`, 2)));
}

/** Without util-linux on its path, Toolgate cannot give children a PID namespace. */
const withoutUtilLinux = (folder: string): ToolgateOptions => ({ env: { PATH: folder } });

const levels = [
  { level: "the best level that works here", optionsFor: () => ({}) },
  { level: "a reaper", optionsFor: withoutUtilLinux },
];

const signals = [
  { signal: "SIGKILL", exit: { code: null, signal: "SIGKILL" } },
  { signal: "SIGTERM", exit: { code: 0, signal: null } },
  { signal: "SIGINT", exit: { code: 0, signal: null } },
] as const;

// Servers that ignore every request to go cost their grace: these tests wait for it side by side.
describe.concurrent("servers that ignore every request to go, with children and a session of their own", () => {
  const bySignal = levels.flatMap((one) => signals.map((other) => ({ ...one, ...other })));

  test.for(bySignal)(
    "are gone after $signal, by $level",
    async ({ optionsFor, signal, exit }, { folder, start, witness }) => {
      const options = { ...optionsFor(folder), config: families(witness) };
      const toolgate = await start(["serve", "--http", "0"], options);
      await bothFamilies(witness);
      await endsWhole(toolgate.pid, witness, () => process.kill(toolgate.pid, signal));
      expect(await toolgate.exited).toEqual(exit);
    },
  );

  test.for(levels)(
    "are gone when the client on standard input leaves, by $level",
    async ({ optionsFor }, { folder, startStdioToolgate, witness }) => {
      const toolgate = await startStdioToolgate({ ...optionsFor(folder), config: families(witness) });
      await bothFamilies(witness);
      await endsWhole(toolgate.pid, witness, toolgate.leave);
      expect(await toolgate.exited).toEqual({ code: 0, signal: null });
    },
  );
});

test("without util-linux a reaper keeps the processes", async ({ folder }) => {
  const options = { ...withoutUtilLinux(folder), config: {} };
  const { stdout } = await runProgram(await toolgateCommand(folder, ["doctor"], options));
  expect(stdout).toMatch(/^Processes +reaper: /m);
});

const config = (witness: Witness) => ({ mcpServers: { up: fixture(witness, "recorder.mjs", "up") } });
const hang = { name: "up__hang", arguments: { key: "it" } };

describe("a client that vanishes during a call", () => {
  test("over modern HTTP has cancelled it", async ({ start, witness }) => {
    const toolgate = await start(["serve", "--http", "0"], { config: config(witness) });
    const call = open(toolgate, modernPost("tools/call", hang));
    await witness.heard("up hang it");
    call.abort();
    await witness.heard("up cancelled it");
    await endsWhole(toolgate.pid, witness, toolgate.stop);
  });

  test("over legacy HTTP has not", async ({ start, witness }) => {
    const toolgate = await start(["serve", "--http", "0"], { config: config(witness) });
    const headers = await openSession(toolgate);
    const call = open(toolgate, { headers, body: legacy("tools/call", hang) });
    await witness.heard("up hang it");
    call.abort();
    // A modern one, which goes later, is the measure of when Toolgate has seen them go.
    const later = open(toolgate, modernPost("tools/call", { name: "up__hang", arguments: { key: "later" } }));
    await witness.heard("up hang later");
    later.abort();
    await witness.heard("up cancelled later");

    await http(toolgate, { headers, body: legacy("tools/call", { name: "up__release" }, 2) });
    await witness.heard("up released it");
    expect(witness.lines).not.toContain("up cancelled it");
    await endsWhole(toolgate.pid, witness, toolgate.stop);
  });

  test("over stdio, modern, has cancelled it", async ({ startStdioToolgate, witness }) => {
    const toolgate = await startStdioToolgate({ config: config(witness) });
    toolgate.send(modern("tools/call", hang));
    await witness.heard("up hang it");
    await endsWhole(toolgate.pid, witness, toolgate.leave);
    expect(witness.lines).toContain("up cancelled it");
  });

  test("over stdio, legacy, has cancelled it", async ({ startStdioToolgate, witness }) => {
    const toolgate = await startStdioToolgate({ config: config(witness) });
    await toolgate.ask(initialize());
    toolgate.send(initialized);
    toolgate.send(legacy("tools/call", hang, 2));
    await witness.heard("up hang it");
    await endsWhole(toolgate.pid, witness, toolgate.leave);
    expect(witness.lines).toContain("up cancelled it");
  });
});

test("Toolgate that is told to stop cancels what is in flight and says so", async ({ start, witness }) => {
  const toolgate = await start(["serve", "--http", "0"], { config: config(witness) });
  const answer = http(toolgate, modernPost("tools/call", hang));
  await witness.heard("up hang it");
  await endsWhole(toolgate.pid, witness, toolgate.stop);
  expect(witness.lines).toContain("up cancelled it");
  expect(await answer).toMatchObject({
    status: 503,
    json: { error: { code: -32603, message: expect.stringContaining("stopping") } },
  });
});
