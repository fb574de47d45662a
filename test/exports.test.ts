import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { builtinsReachedFrom, exportedNames } from "./support/entryPoints.ts";
import { root } from "./support/paths.ts";
import { readSources } from "./support/sources.ts";

// What a program can import is a promise: `npm run exports:update` records a change to it, and the diff shows it.

const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
  exports: Record<string, string | { types: string; default: string }>;
};
const entryPoints = Object.entries(manifest.exports).flatMap(([subPath, target]) =>
  typeof target === "string" ? [] : [{ subPath, ...target, source: sourceOf(target.default) }],
);

test("the public names are those on record", async () => {
  const sources = await readSources();
  const names = entryPoints.map(({ subPath, source }) => [
    subPath,
    exportedNames(source, sources.get(source) ?? ""),
  ]);
  await expect(`${JSON.stringify(Object.fromEntries(names), undefined, 2)}\n`).toMatchFileSnapshot(
    "exports.json",
  );
});

test.each(entryPoints)(
  "$subPath has at run time the values that it lists, and a declaration beside them",
  async (entry) => {
    const listed = exportedNames(entry.source, await readFile(join(root, entry.source), "utf8"));
    const module = (await import(pathToFileURL(join(root, entry.source)).href)) as object;
    expect(Object.keys(module).toSorted()).toEqual(listed.filter((name) => !name.startsWith("type ")));
    expect(entry.types).toBe(entry.default.replace(/\.js$/, ".d.ts"));
  },
);

test('importing "toolgate" loads no Node built-in', async () => {
  expect(builtinsReachedFrom("src/index.ts", await readSources())).toEqual([]);
});

function sourceOf(built: string): string {
  return built.replace(/^\.\/dist\//, "src/").replace(/\.js$/, ".ts");
}
