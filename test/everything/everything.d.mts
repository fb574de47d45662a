import type { ToolError } from "../../src/core/errors.ts";
import type {
  PromptProvider,
  ResourceProvider,
  TaskProvider,
  ToolProvider,
} from "../../src/core/provider.ts";
import type { Description } from "./description.mjs";

export type Everything = ToolProvider & {
  readonly resources: ResourceProvider;
  readonly prompts: PromptProvider;
  readonly tasks: TaskProvider;
};

export function createEverything(options: {
  readonly ToolError: typeof ToolError;
  /** Default `everything`. */
  readonly namespace?: string;
  /** Default: one of its own. */
  readonly description?: Description;
}): Everything;
