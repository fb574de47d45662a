import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FakeIo, type FakeIoOptions } from "../../test/support/fakeIo.ts";
import { leastNode } from "./doctor.ts";

const ready = {
  namespace: "fs",
  state: "ready",
  era: "legacy",
  protocolVersion: "2025-11-25",
  tools: 12,
  restarts: 0,
} as const;
const failed = { namespace: "gh", state: "failed", error: "401\nUnauthorized", restarts: 2 } as const;

const doctor = async (options: FakeIoOptions): Promise<{ code: number; lines: string[] }> => {
  const io = new FakeIo({ env: { XDG_STATE_HOME: "/tmp" }, cwd: "/tmp", ...options });
  const code = await io.run("doctor");
  return { code, lines: io.stdout.text.split("\n") };
};

test("shows what works here and each upstream", async () => {
  expect(await doctor({ upstreams: [ready] })).toEqual({
    code: 0,
    lines: [
      "Toolgate   1.2.3",
      "Node       v20.19.0",
      "State      /tmp/toolgate",
      "Config     none: ./toolgate.json is not there, so the file tools work in the current folder",
      "Workspace  /tmp",
      "Processes  pid-namespace: The kernel ends them.",
      "Upstreams  1 server",
      "  ready    fs: 12 tools, legacy 2025-11-25 (0 ms)",
      "",
    ],
  });
});

test("an upstream that failed is shown with why and ends with 3", async () => {
  const { code, lines } = await doctor({ upstreams: [ready, failed] });
  expect(code).toBe(3);
  expect(lines).toContain("  failed   gh: 401 Unauthorized (0 ms)");
});

test("upstreams are shown in the order of the configuration", async () => {
  const io = new FakeIo({
    env: { XDG_STATE_HOME: "/tmp" },
    cwd: "/tmp",
    upstreams: [
      { ...ready, state: "starting" },
      { ...failed, state: "starting" },
    ],
  });
  const running = io.run("doctor");
  await io.stdout.shows("Upstreams  2 servers\n");
  io.upstream(failed);
  expect(io.stdout.text).not.toContain("gh");
  io.upstream(ready);
  expect(await running).toBe(3);
  expect(io.stdout.text).toMatch(/\n {2}ready {4}fs: .*\n {2}failed {3}gh: .*\n$/);
});

describe("of the configuration", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "toolgate-doctor-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const configured = async (config: object): Promise<{ code: number; lines: string[] }> => {
    await writeFile(join(folder, "toolgate.json"), JSON.stringify(config));
    return doctor({ cwd: folder });
  };

  test("it shows where it is, and what its author should know", async () => {
    const { code, lines } = await configured({ mcpServers: { "my fs": { command: "a", icon: "b" } } });
    expect(code).toBe(0);
    expect(lines).toContain(`Config     ${join(folder, "toolgate.json")}`);
    expect(lines).toContainEqual(
      expect.stringMatching(/^Note {7}The server "my fs" has the namespace "my_fs-[0-9a-f]{8}"/),
    );
    expect(lines).toContainEqual(expect.stringMatching(/^Note {7}Fields .* are ignored: my fs\.icon\.$/));
    expect(lines.join("\n")).not.toContain("Workspace");
  });

  test("a workspace that is not there is said, and ends with 3", async () => {
    const { code, lines } = await configured({ tools: { file: true, workspace: "gone" } });
    expect(code).toBe(3);
    expect(lines).toContain(`Workspace  ${join(folder, "gone")} There is no such folder. Make it.`);
  });
});

test.each([
  ["v20.18.9", 3],
  ["v18.20.0", 3],
  ["v20.19.0", 0],
  ["v24.0.0", 0],
])("Node %s ends with %i", async (nodeVersion, code) => {
  const result = await doctor({ nodeVersion });
  expect(result.code).toBe(code);
  expect(result.lines.join("\n").includes("Node 20.19 or newer is needed.")).toBe(code === 3);
});

test("a state folder that cannot be written is said", async () => {
  const { code, lines } = await doctor({ env: { XDG_STATE_HOME: "/proc/self" } });
  expect(lines[2]).toBe("State      /proc/self/toolgate This user cannot write there. Set XDG_STATE_HOME.");
  expect(code).toBe(3);
});

test("the least Node is the one that package.json asks for", () => {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  expect((JSON.parse(text) as { engines: { node: string } }).engines.node).toBe(`>=${leastNode}`);
});
