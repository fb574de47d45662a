import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { installTools } from "./installTools.ts";
import { root } from "./paths.ts";

const run = promisify(execFile);

/** Before the tests that start real programs: builds `dist/` once, and installs what they need. */
export default async function setup(project: TestProject): Promise<void> {
  const [tools] = await Promise.all([installTools(), build()]);
  project.provide("tools", tools);
}

async function build(): Promise<void> {
  try {
    await run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], {
      cwd: root,
    });
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    throw new Error(`dist/ does not build. Mend these, or see "npm run build":\n${stdout ?? String(error)}`);
  }
}
