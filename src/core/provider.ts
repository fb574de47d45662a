import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Cancellation } from "./cancellation.ts";
import type { ToolContext } from "./context.ts";
import type { JsonObject } from "./json.ts";
import type { InputRequired, ToolOutput } from "./result.ts";
import type { TaskMethod } from "./tasks.ts";
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

  /** A caller asks for the list: what is kept of it may have grown old. A change is told by `watch`. Returns at once. */
  touch?(kind: ListKind): void;

  readonly resources?: ResourceProvider;
  readonly prompts?: PromptProvider;

  /** Completes an argument of one of its prompts or resource templates. MCP's own result object. */
  complete?(request: CompletionRequest, ctx: ToolContext): Promise<JsonObject>;

  readonly tasks?: TaskProvider;

  /**
   * What the provider says of itself, as soon as it knows. Must not reject. Without it, or before it knows, what it
   * can is told by its members.
   */
  info?(): Promise<ProviderInfo | undefined>;

  /** Ends whatever the provider holds. Safe to call twice. */
  close?(): Promise<void>;
}

export interface ProviderInfo {
  /** MCP's `ServerCapabilities`. */
  readonly capabilities: JsonObject;
  /** For the client's model: how to use what is here. */
  readonly instructions?: string;
}

/** Somebody who wants to know of a resource's changes until `cancellation` is cancelled. */
export interface Subscriber {
  /** `params` of `notifications/resources/updated`: the `uri`, which may be of a part of what was subscribed to. */
  updated(params: JsonObject): void;
  readonly cancellation: Cancellation;
}

/** What a provider of resources adds. Definitions and results are MCP's own objects. */
export interface ResourceProvider {
  listResources(): Promise<readonly JsonObject[]>;
  listResourceTemplates(): Promise<readonly JsonObject[]>;
  /** Rejects with `ToolError` `NotFound` for a URI that is not there. */
  readResource(uri: string, ctx: ToolContext): Promise<JsonObject | InputRequired>;
  /** Resolves once changes are told. `ctx` is of the request, which is over before the subscription. Without it nobody can subscribe. */
  subscribe?(uri: string, subscriber: Subscriber, ctx: ToolContext): Promise<void>;
}

/** What a provider of prompts adds. Definitions and results are MCP's own objects. */
export interface PromptProvider {
  listPrompts(): Promise<readonly JsonObject[]>;
  /** Rejects with `ToolError` `NotFound` for a name that is not there. */
  getPrompt(name: string, args: JsonObject, ctx: ToolContext): Promise<JsonObject | InputRequired>;
}

/** What a provider adds whose calls may answer with a task (extension `io.modelcontextprotocol/tasks`). */
export interface TaskProvider {
  /** Params and results are MCP's own objects; `params.taskId` is the provider's own. Rejects with `ToolError` `NotFound` for an unknown one. */
  request(method: TaskMethod, params: JsonObject, ctx: ToolContext): Promise<JsonObject>;
}

/** Params of `completion/complete` (specification 2026-07-28, server/utilities/completion). */
export interface CompletionRequest {
  readonly ref:
    | { readonly type: "ref/prompt"; readonly name: string }
    | { readonly type: "ref/resource"; readonly uri: string };
  readonly argument: { readonly name: string; readonly value: string };
  /** Arguments that have been chosen already. */
  readonly context?: JsonObject;
}
