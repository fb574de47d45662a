import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
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
  const io = new FakeIo({ env: { XDG_STATE_HOME: "/tmp" }, ...options });
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

test("upstreams are shown as they settle, each once", async () => {
  const io = new FakeIo({
    env: { XDG_STATE_HOME: "/tmp" },
    upstreams: [{ ...ready, state: "starting" }, failed],
  });
  const running = io.run("doctor");
  await io.stdout.shows("failed   gh");
  expect(io.stdout.text).not.toContain("ready");
  io.upstream(ready);
  expect(await running).toBe(3);
  expect(io.stdout.text.match(/ {2}(ready|failed) /g)).toHaveLength(2);
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
