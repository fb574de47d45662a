import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkLayers, parseTable } from "./support/layers.ts";
import { root } from "./support/paths.ts";
import { readSources } from "./support/sources.ts";

test("src/ keeps the layers of ARCHITECTURE.md and has no import cycle", async () => {
  const table = parseTable(await readFile(join(root, "ARCHITECTURE.md"), "utf8"));
  const sources = await readSources();
  // Both readers find something: an empty table or tree would keep any rule.
  expect(table.map((layer) => layer.folder)).toContain("mcp/server");
  expect(sources.size).toBeGreaterThan(10);
  expect(checkLayers(sources, table)).toEqual([]);
});
