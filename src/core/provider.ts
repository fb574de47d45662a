import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { ToolContext } from "./context.ts";
import type { JsonObject } from "./json.ts";
import type { ToolOutput } from "./result.ts";
import type { Capabilities, ToolDefinition } from "./tool.ts";

/** What Toolgate knows of a tool and no client sees. */
export interface ToolFacts {
  readonly capabilities?: Capabilities;
  /** Milliseconds; replaces the gateway's time-out. */
  readonly timeoutMs?: number;
  readonly inputStandard?: StandardSchemaV1;
  readonly outputStandard?: StandardSchemaV1;
  /**
   * `local`: the gateway checks arguments and output against the definition's schemas.
   * `upstream`: whoever serves the tool does. `upstream-checked`: arguments are checked here as well.
   */
  readonly validation?: "local" | "upstream" | "upstream-checked";
}

export type ListKind = "tools" | "prompts" | "resources";

/**
 * A source of tools. Three members are required; what an optional one adds is said beside it.
 * A provider around providers is a provider.
 */
export interface ToolProvider {
  /** See `isNamespace`. */
  readonly namespace: string;

  /**
   * All tools, in a stable order, under the names that this provider gave them. Rejects with `ToolError`
   * `Unsupported` if it can call but not list, `Unavailable` if it cannot answer now.
   */
  listTools(): Promise<readonly ToolDefinition[]>;

  /**
   * `name` is one of the provider's own names. A failing tool is a result with `isError`; rejects with
   * `ToolError` `NotFound` for a name that is not there.
   */
  callTool(name: string, args: JsonObject, ctx: ToolContext): Promise<ToolOutput>;

  /** Without it a tool has no declared capability and is checked as a local one. */
  facts?(name: string): ToolFacts | undefined;

  /** Calls back whenever a list may have changed. Without it a list is read once. Returns how to stop. */
  watch?(listener: (kind: ListKind) => void): () => void;

  readonly resources?: ResourceProvider;
  readonly prompts?: PromptProvider;

  /** Ends whatever the provider holds. Safe to call twice. */
  close?(): Promise<void>;
}

/** What a provider of resources adds. Results are MCP's own objects. */
export interface ResourceProvider {
  listResources(): Promise<readonly JsonObject[]>;
  listResourceTemplates(): Promise<readonly JsonObject[]>;
  readResource(uri: string, ctx: ToolContext): Promise<JsonObject>;
}

/** What a provider of prompts adds. Results are MCP's own objects. */
export interface PromptProvider {
  listPrompts(): Promise<readonly JsonObject[]>;
  getPrompt(name: string, args: Record<string, string>, ctx: ToolContext): Promise<JsonObject>;
}
