import { isBuiltin } from "node:module";
import { findCycles } from "./cycles.ts";
import { importsOf, resolveImport } from "./imports.ts";

/** One row of the table in ARCHITECTURE.md. */
export interface Layer {
  readonly rank: number;
  /** Below `src/`, such as `mcp/server`. */
  readonly folder: string;
  readonly mayImport: readonly string[];
}

/** Folders that must run where there is no Node. */
const portable = new Set(["core", "wire", "runtime", "middleware", "schema"]);

/** The rows `| rank | folder | what | may import |` of a Markdown document. */
export function parseTable(markdown: string): Layer[] {
  return markdown.split("\n").flatMap((line) => {
    const row = /^\| *(\d+) *\| *`([^`]+?)\/?` *\|.*\| *([^|]*?) *\|$/.exec(line);
    if (!row) return [];
    const [, rank, folder = "", names = ""] = row;
    const mayImport = names === "nothing" ? [] : names.split(",").map((name) => name.trim());
    return [{ rank: Number(rank), folder, mayImport }];
  });
}

/**
 * What breaks the layering, each as a sentence with its reason and its mend. `files` maps paths below the
 * root (`src/core/x.ts`) to sources. Files directly in `src/` are entry points: they may import everything.
 */
export function checkLayers(files: ReadonlyMap<string, string>, table: readonly Layer[]): string[] {
  const problems = [...checkTable(table), ...checkFolders(files, table)];
  const graph = new Map<string, string[]>();
  for (const [path, source] of files) {
    const from = layerOf(path, table);
    const loaded: string[] = [];
    for (const { specifier, erased } of importsOf(path, source)) {
      const target = resolveImport(path, specifier);
      if (target === undefined) problems.push(...checkBuiltin(path, from, specifier, erased));
      else {
        problems.push(...checkImport({ path, target, from, to: layerOf(target, table) }));
        if (!erased) loaded.push(target);
      }
    }
    graph.set(path, loaded);
  }
  for (const cycle of findCycles(graph))
    problems.push(
      `Import cycle: ${cycle.join(" -> ")}. Which of them runs first depends on who is imported first. ` +
        "Move what they share to a file that imports neither, or make one an `import type`.",
    );
  return problems;
}

function checkTable(table: readonly Layer[]): string[] {
  return table.flatMap(({ folder, rank, mayImport }) =>
    mayImport.flatMap((name) => {
      const lower = table.find((layer) => layer.folder === name);
      if (!lower) return [`ARCHITECTURE.md lets ${folder} import ${name}, which the table does not have.`];
      if (lower.rank < rank) return [];
      return [
        `ARCHITECTURE.md lets ${folder} (rank ${rank}) import ${name} (rank ${lower.rank}): ` +
          "a folder imports from lower ranks only. Correct the ranks or the list.",
      ];
    }),
  );
}

function checkFolders(files: ReadonlyMap<string, string>, table: readonly Layer[]): string[] {
  const paths = [...files.keys()];
  const homeless = paths.filter((path) => !isEntry(path) && !layerOf(path, table));
  const empty = table.filter((layer) => !paths.some((path) => layerOf(path, table) === layer));
  return [
    ...homeless.map(
      (path) => `${path} is in no folder of ARCHITECTURE.md's table. Move it, or add a row for its folder.`,
    ),
    ...empty.map(
      ({ folder }) => `ARCHITECTURE.md names ${folder}, and src/${folder}/ has no file. Drop the row.`,
    ),
  ];
}

interface Edge {
  readonly path: string;
  readonly target: string;
  readonly from: Layer | undefined;
  readonly to: Layer | undefined;
}

function checkImport({ path, target, from, to }: Edge): string[] {
  // A file outside the table has its own message already; an entry point may import all.
  if (!from || from === to) return [];
  if (to && from.mayImport.includes(to.folder)) return [];
  const allowed = from.mayImport.length === 0 ? "nothing" : `${from.mayImport.join(", ")} only`;
  const mend =
    to && to.rank < from.rank
      ? "Reach it through one of those, or add it to the table in ARCHITECTURE.md."
      : "Move what is needed down to one of those, or have it passed in.";
  return [`${path} imports ${target}: ${from.folder} (rank ${from.rank}) may import ${allowed}. ${mend}`];
}

function checkBuiltin(path: string, from: Layer | undefined, specifier: string, erased: boolean): string[] {
  if (!from || erased || !portable.has(from.folder) || !isBuiltin(specifier)) return [];
  return [
    `${path} imports ${specifier}: ${from.folder} runs in any JavaScript runtime. ` +
      "Have the effect passed in (core/effects.ts), or use `import type` if only a type is wanted.",
  ];
}

const isEntry = (path: string): boolean => /^src\/[^/]+$/.test(path);

function layerOf(path: string, table: readonly Layer[]): Layer | undefined {
  return table.find(({ folder }) => path.startsWith(`src/${folder}/`));
}
