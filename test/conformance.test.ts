import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  countCells,
  explain,
  formatTable,
  judge,
  readExceptions,
  readResults,
  toCell,
  type Cell,
  type Check,
  type Section,
} from "./conformance/results.mjs";

const check = (status: Check["status"], id: string, errorMessage?: string): Check => ({
  id,
  status,
  description: `about ${id}`,
  ...(errorMessage !== undefined && { errorMessage }),
});

const passing = toCell(judge([check("SUCCESS", "a")], "server"), { scored: true });
const failing = toCell(judge([check("FAILURE", "a", "went wrong")], "server"), { scored: true });

const section = (rows: Record<string, readonly Cell[]>, columns = ["one", "two"]): Section => ({
  title: "server",
  columns,
  rows: Object.entries(rows).map(([name, cells]) => ({ name, cells })),
});

describe("the suite's results", () => {
  async function written(files: Record<string, readonly Check[]>): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "toolgate-conformance-test-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    for (const [path, checks] of Object.entries(files)) {
      await mkdir(join(folder, path), { recursive: true });
      await writeFile(join(folder, path, "checks.json"), JSON.stringify(checks));
      await writeFile(join(folder, path, "stdout.txt"), "{}");
    }
    return folder;
  }

  test("are read by scenario, for a server", async () => {
    const checks = [check("SUCCESS", "a")];
    const folder = await written({
      "server-ping-2026-11-22T01-34-22-151Z": checks,
      "server-server-initialize-2026-11-22T01-34-21-757Z": [],
    });
    expect(await readResults(folder, "server")).toEqual(
      new Map([
        ["ping", checks],
        ["server-initialize", []],
      ]),
    );
  });

  test("are read by scenario, for a client, whose names may hold a slash", async () => {
    const folder = await written({
      "auth/metadata-var1-2026-11-22T01-34-22-151Z": [],
      "tools_call-2026-11-22T01-34-22-152Z": [],
    });
    expect([...(await readResults(folder, "client")).keys()].toSorted()).toEqual([
      "auth/metadata-var1",
      "tools_call",
    ]);
  });
});

describe("a scenario", () => {
  test("passes where nothing failed, whatever was skipped or only told", () => {
    const checks = [check("SUCCESS", "a"), check("SKIPPED", "b"), check("INFO", "c", "told")];
    expect(judge(checks, "server")).toEqual({ verdict: "passed", messages: [] });
  });

  test("fails with one failure, and says what failed, warnings last", () => {
    const checks = [check("WARNING", "a", "should"), check("SUCCESS", "b"), check("FAILURE", "c")];
    expect(judge(checks, "server")).toEqual({
      verdict: "failed",
      messages: ["c: about c", "a: should"],
    });
  });

  test("with a warning passes for a server and fails for a client", () => {
    const checks = [check("SUCCESS", "a"), check("WARNING", "b", "should")];
    expect(judge(checks, "server")).toEqual({ verdict: "warned", messages: ["b: should"] });
    expect(judge(checks, "client")).toEqual({ verdict: "failed", messages: ["b: should"] });
  });

  test("without a result has failed", () => {
    const cell = toCell(judge(undefined, "server"), { scored: true });
    expect(cell).toEqual({ mark: "none", counts: "failed", messages: ["The suite gave no result."] });
  });
});

describe("a named exception", () => {
  const reason = "a legacy request has no key";
  const named = { scored: true, exception: { reason, always: true } };
  const sometimes = { scored: true, exception: { reason, always: false } };

  test("that fails does not count as failed, and its reason is told", () => {
    for (const of of [named, sometimes])
      expect(toCell({ verdict: "failed", messages: ["a: went wrong"] }, of)).toEqual({
        mark: "except",
        counts: "excepted",
        messages: [reason],
      });
  });

  test.for(["passed", "warned"] as const)("that always fails and %s is stale, which fails", (verdict) => {
    const cell = toCell({ verdict, messages: [] }, named);
    expect(cell).toMatchObject({ mark: "stale", counts: "failed" });
    expect(cell.messages[0]).toContain("exceptions.json");
  });

  test("that sometimes fails may pass", () => {
    expect(toCell({ verdict: "passed", messages: [] }, sometimes)).toEqual(passing);
  });

  test("is of a scenario that is scored", () => {
    const file = { always: { ping: "why" }, sometimes: { "tools-list": "now and then" } };
    expect(readExceptions(file, ["ping", "tools-list"])).toEqual(
      new Map([
        ["ping", { reason: "why", always: true }],
        ["tools-list", { reason: "now and then", always: false }],
      ]),
    );
    expect(() => readExceptions(file, ["ping"])).toThrow('no scored scenario "tools-list"');
  });
});

test("what is not scored is shown, and counts as nothing", () => {
  const cell = toCell(judge([check("FAILURE", "a")], "server"), { scored: false });
  expect(cell).toEqual({ mark: "FAIL", counts: "unscored", messages: [] });
});

test("the cells are counted over all sections", () => {
  const sections = [section({ a: [passing, failing], b: [passing, passing] }), section({ c: [passing] })];
  expect(countCells(sections)).toEqual({ passed: 4, failed: 1, excepted: 0, unscored: 0 });
});

test("the table is aligned over its sections", () => {
  const long = section({ "a-long-scenario": [passing, failing], b: [failing, passing] });
  expect(formatTable([long, section({ c: [passing] }, ["one"])])).toBe(
    [
      "server               one      two",
      "a-long-scenario       ok     FAIL",
      "b                   FAIL       ok",
      "",
      "server               one",
      "c                     ok",
    ].join("\n"),
  );
});

test("below the table, failures come first, and cells that say the same share a paragraph", () => {
  const warned = toCell({ verdict: "warned", messages: ["b: should"] }, { scored: true });
  const sections = [section({ first: [warned, passing], second: [failing, failing] })];
  expect(explain(sections)).toBe(
    ["FAIL second (server: one, two)", "    a: went wrong", "warn first (server: one)", "    b: should"].join(
      "\n",
    ),
  );
});
