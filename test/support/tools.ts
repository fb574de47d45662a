import { inject, type TestContext } from "vitest";

/** A test's own way to skip itself: `test("...", ({ skip }) => ...)`. */
export type Skip = TestContext["skip"];

/** What some tests need beyond the development dependencies: the path of its entry, or why it is not here. */
export type Tool = { readonly path: string } | { readonly missing: string };

export interface Tools {
  /** The `node` binary of Node 24. */
  readonly node24: Tool;
  /** The entry script of the MCP Inspector; it wants Node 24. */
  readonly inspector: Tool;
}

declare module "vitest" {
  interface ProvidedContext {
    tools: Tools;
  }
}

/**
 * The path of a tool. Where it is missing the test is skipped, and says why; on CI, where it must be
 * there, the test fails.
 */
export function needs(name: keyof Tools, skip: Skip): string {
  const tool = inject("tools")[name];
  if ("path" in tool) return tool.path;
  if (process.env["CI"]) throw new Error(`CI must have ${name}: ${tool.missing}`);
  return skip(`${name} is missing: ${tool.missing}`);
}
