import { describe, expect, test } from "vitest";
import { checkLayers, parseTable } from "./layers.ts";

const markdown = `
| rank | folder | what lives there | may import |
|---|---|---|---|
| 0 | \`core/\` | words, \`a | b\` | nothing |
| 1 | \`wire/\` | frames | core |
| 2 | \`mcp/server/\` | methods | core, wire |
`;
const table = parseTable(markdown);
const clean = {
  "src/core/a.ts": "export const a = 1;",
  "src/wire/b.ts": 'import { a } from "../core/a.ts"; export const b = a;',
  "src/mcp/server/c.ts": 'export { b } from "../../wire/b.ts";',
  "src/index.ts": 'export { b } from "./mcp/server/c.ts";',
};

const check = (changes: Record<string, string>): string[] =>
  checkLayers(new Map(Object.entries({ ...clean, ...changes })), table);

test("reads rank, folder and permissions from the table", () => {
  expect(table).toEqual([
    { rank: 0, folder: "core", mayImport: [] },
    { rank: 1, folder: "wire", mayImport: ["core"] },
    { rank: 2, folder: "mcp/server", mayImport: ["core", "wire"] },
  ]);
});

test("a tree that keeps the rules has no problems", () => {
  expect(check({})).toEqual([]);
});

describe("an import from a folder that is not allowed", () => {
  test.each([
    ["an import", 'import { c } from "../mcp/server/c.ts";'],
    ["a type import", 'import type { C } from "../mcp/server/c.ts";'],
    ["an import for effect", 'import "../mcp/server/c.ts";'],
    ["a named export", 'export { c } from "../mcp/server/c.ts";'],
    ["an export of all", 'export * from "../mcp/server/c.ts";'],
    ["a dynamic import", 'await import("../mcp/server/c.ts");'],
    ["an import type", 'export type C = import("../mcp/server/c.ts").C;'],
  ])("is found when written as %s", (_, source) => {
    expect(check({ "src/wire/d.ts": source })).toEqual([
      "src/wire/d.ts imports src/mcp/server/c.ts: wire (rank 1) may import core only. " +
        "Move what is needed down to one of those, or have it passed in.",
    ]);
  });

  test("is found from the lowest folder, and of an entry point", () => {
    expect(check({ "src/core/d.ts": 'import "../index.ts";' })).toEqual([
      expect.stringContaining("src/core/d.ts imports src/index.ts: core (rank 0) may import nothing."),
    ]);
  });

  test("names the table when the rank would allow it", () => {
    const narrow = table.map((layer) =>
      layer.folder === "mcp/server" ? { ...layer, mayImport: ["core"] } : layer,
    );
    expect(checkLayers(new Map(Object.entries(clean)), narrow)).toEqual([
      expect.stringContaining("add it to the table in ARCHITECTURE.md"),
    ]);
  });

  test("is not found in a comment or a string", () => {
    const source = '// import "../mcp/server/c.ts"\nexport const s = \'import "../mcp/server/c.ts"\';';
    expect(check({ "src/wire/d.ts": source })).toEqual([]);
  });
});

describe("cycles", () => {
  test("are found across files, with their path", () => {
    const problems = check({
      "src/core/d.ts": 'import "./e.ts";',
      "src/core/e.ts": 'import "./f.ts";',
      "src/core/f.ts": 'import "./d.ts";',
    });
    expect(problems).toEqual([
      expect.stringContaining("src/core/d.ts -> src/core/e.ts -> src/core/f.ts -> src/core/d.ts"),
    ]);
  });

  test("of types alone are erased and do not count", () => {
    expect(
      check({
        "src/core/d.ts": 'import type { E } from "./e.ts"; export type D = E;',
        "src/core/e.ts": 'import type { D } from "./d.ts"; export type E = D[];',
      }),
    ).toEqual([]);
  });

  test("count `import { type X }`, which still loads the module", () => {
    expect(
      check({
        "src/core/d.ts": 'import { type E } from "./e.ts"; export type D = E;',
        "src/core/e.ts": 'import { type D } from "./d.ts"; export type E = D[];',
      }),
    ).toHaveLength(1);
  });
});

describe("Node built-ins in a portable folder", () => {
  test.each(["node:fs", "fs", "node:fs/promises"])("%s is found", (name) => {
    expect(check({ "src/wire/d.ts": `import "${name}";` })).toEqual([
      expect.stringContaining(`src/wire/d.ts imports ${name}: wire runs in any JavaScript runtime.`),
    ]);
  });

  test("are allowed as types, and elsewhere", () => {
    expect(
      check({
        "src/wire/d.ts": 'import type { Readable } from "node:stream"; export type R = Readable;',
        "src/mcp/server/d.ts": 'import "node:fs";',
      }),
    ).toEqual([]);
  });
});

describe("the table and the tree", () => {
  test("a folder that the table does not have is found", () => {
    expect(check({ "src/mcp/other/d.ts": "" })).toEqual([
      expect.stringContaining("src/mcp/other/d.ts is in no folder of ARCHITECTURE.md's table"),
    ]);
  });

  test("a row without a folder is found", () => {
    const longer = [...table, { rank: 3, folder: "cli", mayImport: ["core"] }];
    expect(checkLayers(new Map(Object.entries(clean)), longer)).toEqual([
      expect.stringContaining("ARCHITECTURE.md names cli"),
    ]);
  });

  test("a row that allows an equal rank or an unknown folder is found", () => {
    const wrong = parseTable(markdown.replace("| frames | core |", "| frames | core, mcp/server, moon |"));
    expect(checkLayers(new Map(Object.entries(clean)), wrong)).toEqual([
      expect.stringContaining("lets wire (rank 1) import mcp/server (rank 2)"),
      expect.stringContaining("lets wire import moon, which the table does not have"),
    ]);
  });
});

test("a source that does not parse is an error that names the file", () => {
  expect(() => check({ "src/core/d.ts": "export const = 1" })).toThrow("src/core/d.ts does not parse");
});
