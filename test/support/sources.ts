import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "./paths.ts";

/** Sources that ship, by their posix path below the root. Tests and contract suites may import what they test with. */
export async function readSources(): Promise<Map<string, string>> {
  const names = await readdir(join(root, "src"), { recursive: true });
  const shipped = names.filter((name) => name.endsWith(".ts") && !/\.(test|test-d|contract)\.ts$/.test(name));
  const entries = shipped.toSorted().map(async (name) => {
    const path = `src/${name.replaceAll("\\", "/")}`;
    return [path, await readFile(join(root, path), "utf8")] as const;
  });
  return new Map(await Promise.all(entries));
}
