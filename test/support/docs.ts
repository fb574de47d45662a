import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "./paths.ts";

/**
 * What a fenced block claims, and so how it is checked: a configuration that is accepted, the text of an example,
 * a program, what that program prints, what a command prints, commands, a picture.
 */
export type BlockKind = "config" | "file" | "program" | "printed" | "output" | "shell" | "mermaid";

export interface Block {
  /** Undefined: nobody knows how to check it. */
  readonly kind: BlockKind | undefined;
  /** The word after the fence. */
  readonly language: string;
  readonly text: string;
  /** `README.md:12`, of the fence. */
  readonly place: string;
  /** Of the comment `<!-- file: examples/x.mjs -->` or `<!-- output: doctor -->` above it. */
  readonly argument: string;
}

export interface Table {
  /** The nearest one above, without its marks. */
  readonly heading: string;
  /** By row, then by the column's title. Code spans keep their backticks. */
  readonly rows: readonly Readonly<Record<string, string>>[];
}

export interface Doc {
  /** Relative to the root. */
  readonly path: string;
  readonly blocks: readonly Block[];
  readonly tables: readonly Table[];
  /** Everything outside of fenced blocks. */
  readonly prose: string;
  /** Names of its headings, as a `#link` says them. */
  readonly anchors: readonly string[];
}

/** All pages that a reader of the repository finds. */
export async function readDocs(): Promise<Doc[]> {
  const pages = async (folder: string): Promise<string[]> =>
    (await readdir(join(root, folder))).filter((name) => name.endsWith(".md")).map((name) => folder + name);
  const paths = [...(await pages("")), ...(await pages("docs/"))].toSorted();
  return Promise.all(
    paths.map(async (path) => parseDoc(path, (await readFile(join(root, path), "utf8")).split("\n"))),
  );
}

/** Throws an `Error` for a fence that is not closed. */
export function parseDoc(path: string, lines: readonly string[]): Doc {
  const blocks: Block[] = [];
  const prose: string[] = [];
  let above: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const fence = /^\s*(```+|~~~+)\s*(.*)$/.exec(lines[at]!);
    if (!fence) {
      prose.push(lines[at]!);
      above.push(lines[at]!);
      continue;
    }
    const [, mark = "", language = ""] = fence;
    const end = lines.findIndex((line, index) => index > at && line.trim() === mark);
    if (end < 0) throw new Error(`${path}:${at + 1}: the fence is not closed`);
    const text = lines.slice(at + 1, end).join("\n");
    blocks.push(toBlock({ language, text, place: `${path}:${at + 1}` }, above, blocks.at(-1)));
    above = [];
    at = end;
  }
  const headings = prose.filter((line) => /^#+ /.test(line)).map((line) => line.replace(/^#+ /, ""));
  return { path, blocks, tables: parseTables(prose), prose: prose.join("\n"), anchors: headings.map(anchor) };
}

function toBlock(
  block: Pick<Block, "language" | "text" | "place">,
  above: readonly string[],
  previous: Block | undefined,
): Block {
  const comment = /^<!-- (\w+): (.+) -->$/.exec(above.findLast((line) => line !== "") ?? "");
  const [, directive, argument = ""] = comment ?? [];
  const follows = above.every((line) => line === "") && previous?.kind === "program";
  return { ...block, kind: kindOf(block.language, directive, follows), argument };
}

function kindOf(language: string, directive: string | undefined, follows: boolean): BlockKind | undefined {
  const isProgram = language === "js" || language === "ts";
  if (directive === "file") return isProgram ? "file" : undefined;
  if (directive === "output") return language === "text" ? "output" : undefined;
  if (directive !== undefined) return undefined;
  if (isProgram) return "program";
  if (language === "text") return follows ? "printed" : undefined;
  const kinds: Readonly<Record<string, BlockKind>> = {
    json: "config",
    jsonc: "config",
    sh: "shell",
    mermaid: "mermaid",
  };
  return kinds[language];
}

function parseTables(lines: readonly string[]): Table[] {
  const tables: Table[] = [];
  let heading = "";
  for (let at = 0; at < lines.length; at++) {
    heading = /^#+ (.*)$/.exec(lines[at]!)?.[1] ?? heading;
    if (!/^\|[-|: ]+\|$/.test(lines[at]!)) continue;
    const titles = cells(lines[at - 1]!);
    const end = lines.findIndex((line, index) => index > at && !line.startsWith("|"));
    const rows = lines.slice(at + 1, end < 0 ? undefined : end).map(cells);
    tables.push({
      heading: heading.replaceAll("`", ""),
      rows: rows.map((row) => Object.fromEntries(titles.map((title, column) => [title, row[column] ?? ""]))),
    });
  }
  return tables;
}

const cells = (row: string): string[] =>
  row
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim());

/** As GitHub makes them of headings. */
function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** The one table under a heading that has these columns. Throws an `Error` if there is none. */
export function tableOf(doc: Doc, heading: string, column: string): Table["rows"] {
  const found = doc.tables.find((table) => table.heading === heading && column in (table.rows[0] ?? {}));
  if (!found) throw new Error(`${doc.path} has no table with "${column}" under "${heading}"`);
  return found.rows;
}

/** What stands between backticks in a text. */
export function codeSpans(text: string): string[] {
  return Array.from(text.matchAll(/`([^`\n]+)`/g), ([, code]) => code!);
}
