import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { exitCodes } from "../src/cli/io.ts";
import { toolErrorCodes } from "../src/core/errors.ts";
import { parseConfig } from "../src/gateway/config.ts";
import { codeSpans, readDocs, tableOf } from "./support/docs.ts";
import { flowchartProblems } from "./support/docsMermaid.ts";
import { commandProblem, commandsOf } from "./support/docsShell.ts";
import { root } from "./support/paths.ts";

// What the pages say is true, as far as it can be told without starting anything; test/e2e/docs.test.ts runs the rest.

const docs = await readDocs();
const blocks = docs.flatMap((doc) => doc.blocks);
const ofKind = (kind: string) => blocks.filter((block) => block.kind === kind);
const page = (path: string) => docs.find((doc) => doc.path === path)!;

test("every fenced block is of a kind that is checked", () => {
  expect(blocks.length).toBeGreaterThan(20);
  expect(blocks.filter((block) => block.kind === undefined)).toEqual([]);
});

test.for(ofKind("config"))("$place is a configuration", ({ text }) => {
  const names = Array.from(text.matchAll(/\$\{env:(\w+)\}/g), ([, name]) => name!);
  const env = Object.fromEntries(names.map((name) => [name, `${name}-with-16-characters`]));
  const { notes } = parseConfig(text, { file: "/home/ada/toolgate.json", env });
  expect(notes).toEqual([]);
});

test.for(ofKind("file"))(
  "$place is that file, apart from comments at its top",
  async ({ text, argument }) => {
    const file = await readFile(join(root, argument), "utf8");
    expect(text).toBe(file.replace(/^(?:\/\/.*\n)+/, "").trimEnd());
  },
);

test.for(ofKind("mermaid"))("$place is a flowchart", ({ text }) => {
  expect(flowchartProblems(text)).toEqual([]);
});

describe("commands", () => {
  const inline = docs.flatMap(({ path, prose }) =>
    codeSpans(prose)
      .filter((code) => /^(?:(?:toolgate|npx|npm|node) |\.ci\/run$)/.test(code))
      // A sentence may speak of a command without its arguments.
      .map((text) => ({ place: path, text: text.replace(/^toolgate \w+$/, "$& --help") })),
  );
  const lines = ofKind("shell").flatMap(({ place, text }) =>
    text.split("\n").map((line) => ({ place, text: line })),
  );

  test.for([...lines, ...inline])("$place: $text", async ({ text }) => {
    const folder = await mkdtemp(join(tmpdir(), "toolgate-docs-"));
    try {
      for (const words of commandsOf(text)) expect(await commandProblem(words, folder)).toBeUndefined();
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe("links", () => {
  // Addresses of other sites are not asked.
  const links = docs.flatMap(({ path, prose }) =>
    Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => ({ path, target: target! })).filter(
      ({ target }) => !/^https?:/.test(target),
    ),
  );

  test.for(links)("$path -> $target", ({ path, target }) => {
    const [file = "", anchor] = target.split("#");
    const goal = file === "" ? path : join(dirname(path), file);
    expect(existsSync(join(root, goal))).toBe(true);
    expect(anchor === undefined || page(goal).anchors.includes(anchor)).toBe(true);
  });
});

test("the table of exit codes has all of them", () => {
  const codes = tableOf(page("docs/configuration.md"), "Exit codes", "code").map((row) =>
    Number(row["code"]),
  );
  expect(codes).toEqual(Object.values(exitCodes));
});

test("the table of error codes has all of them, and how clients learn of each", () => {
  const rows = tableOf(page("docs/library.md"), "Results and errors", "becomes");
  const told = rows.map((row) => [codeSpans(row["code"]!)[0], row["becomes"]]);
  const words = { error: "protocol error", result: "result with `isError`" };
  expect(told).toEqual(Object.entries(toolErrorCodes).map(([code, { as }]) => [code, words[as]]));
});

test("AGENTS.md and ARCHITECTURE.md name only files and folders that are there", () => {
  const named = [page("AGENTS.md"), page("ARCHITECTURE.md")].flatMap(({ prose }) => codeSpans(prose));
  const paths = named.filter((code) => /^[\w.-]+\/$|^[\w./-]+\/[\w.-]+\.\w+$|^[A-Z]+\.md$/.test(code));
  const bases = ["", "src", "src/mcp/server"];
  const missing = paths.filter((path) => !bases.some((base) => existsSync(join(root, base, path))));
  expect(paths.length).toBeGreaterThan(10);
  expect(missing).toEqual([]);
});
