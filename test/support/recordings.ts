import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolDefinition } from "../../src/core/tool.ts";
import { root } from "./paths.ts";
import type { Skip } from "./tools.ts";

const folder = join(root, "../shared/data/toollists");

/** What one real server answered to `tools/list`. */
export interface Recording {
  readonly name: string;
  readonly file: string;
  readonly tools: readonly ToolDefinition[];
}

/** All of them, by name. They are no part of the project: where they are missing, the test is skipped and says so. */
export function recordings(skip: Skip): Recording[] {
  if (!existsSync(folder)) return skip(`the recorded lists are missing: there is no ${folder}`);
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return files.toSorted().map((name) => {
    const file = join(folder, name);
    const { tools } = JSON.parse(readFileSync(file, "utf8")) as Pick<Recording, "tools">;
    return { name: name.replace(/\.json$/, ""), file, tools };
  });
}
