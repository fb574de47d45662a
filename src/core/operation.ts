import type { Answers, InputRequest, ToolContext } from "./context.ts";
import type { ToolError } from "./errors.ts";
import type { JsonObject, Meta } from "./json.ts";
import type { ListKind, ProviderInfo, Subscriber, ToolFacts, ToolProvider } from "./provider.ts";
import type { InputRequired, OperationResult, RawResult, ToolResult } from "./result.ts";
import type { TaskMethod } from "./tasks.ts";
import type { ToolDefinition } from "./tool.ts";

/** MCP's names of the methods: what a client wants done, and what a provider asks of the client while it does it. */
export type OperationKind =
  | "tools/call"
  | "resources/read"
  | "resources/subscribe"
  | "prompts/get"
  | "completion/complete"
  | TaskMethod
  | InputRequest["method"];

/** One thing that somebody wants done. */
export interface Operation {
  readonly kind: OperationKind;
  /**
   * The tool's or prompt's name or the resource's URI as the caller said it; of a completion the name or URI
   * template that its `ref` has; of a task its id; of a question its method.
   */
  readonly name: string;
  /** Of a tool or a prompt; the params of a completion, a task's method or a question; empty for a resource. */
  readonly arguments: JsonObject;
  readonly meta?: Meta;
  /** Answers to what the item of that canonical name asked for. */
  readonly answers?: (Answers & { readonly canonicalName: string }) | undefined;
  /** Who subscribes. */
  readonly subscriber?: Subscriber | undefined;
}

export type ItemKind = "tool" | "prompt" | "resource" | "resourceTemplate";

interface Entry {
  readonly provider: ToolProvider;
  /** The provider's own name for it: a name, a URI or a URI template. */
  readonly name: string;
  /** `{namespace}__{name}`, never mangled: what guards, logs and the audit see. */
  readonly canonicalName: string;
  readonly facts: ToolFacts;
  /** Where the search goes on if the provider, which could not list, answers `NotFound`. */
  readonly otherwise?: Item;
}

export interface ToolItem extends Entry {
  readonly kind: "tool";
  /** As callers see it: its `name` is the exposed one. */
  readonly definition: ToolDefinition;
}

export interface OtherItem extends Entry {
  /** A task is on no list. */
  readonly kind: Exclude<ItemKind, "tool"> | "task";
  /** MCP's own object, as callers see it. */
  readonly definition: JsonObject;
}

/** One entry of a catalogue: what callers see, and where it really lives. */
export type Item = ToolItem | OtherItem;

/** An operation after the one resolution of its name. Frozen once its arguments are final. */
export interface ResolvedOperation extends Operation {
  readonly meta: Meta;
  /** The item's, or the name as asked where there is no item; of a question the namespace of who asks and the method. */
  readonly canonicalName: string;
  /**
   * Absent: nothing here has that name, or this caller may not see it. Of a question it is what asks, of a completion
   * the prompt or template whose argument it is.
   */
  readonly item?: Item;
  /** Why there is no item, where it is something else than `NotFound`. */
  readonly failure?: ToolError;
}

/** True for what a provider asks of the client while a call of the client's runs. */
export function isQuestion({ kind }: Operation): boolean {
  return kind === "elicitation/create" || kind === "sampling/createMessage" || kind === "roots/list";
}

/** Knows what there is. The composite implements it. */
export interface Resolver {
  /** All of a kind, in a deterministic order. Must not reject: what cannot be listed is left out. */
  items(kind: ItemKind): readonly Item[] | Promise<readonly Item[]>;
  /** Rejects with `ToolError` where the owner is known but cannot say. Calls nothing to find out. */
  resolve(operation: Operation): Item | undefined | Promise<Item | undefined>;
  /** Calls back when `items` may have changed. */
  watch(listener: (kind: ListKind) => void): () => void;
  /** What all of it together can do. Must not reject. */
  info(): Promise<ProviderInfo>;
}

export type Next = (operation: ResolvedOperation, ctx: ToolContext) => Promise<OperationResult>;

/** One guard. Both members are optional, so that one name may filter, wrap, or both. */
export interface Middleware {
  readonly name: string;
  /**
   * May this caller see the item? Pure, judges one item, never renames. It holds for lists and again for
   * the one item that is called: what a caller cannot see, it cannot call.
   */
  visible?(item: Item, ctx: ToolContext): boolean;
  /**
   * Wraps an operation of any kind. May answer by itself, rewrite the operation before it is frozen, or throw a
   * `ToolError`. A second `next()` throws.
   */
  call?(operation: ResolvedOperation, ctx: ToolContext, next: Next): Promise<OperationResult>;
}

/** How an operation ended: its answer, what the client must answer first, or why there is neither. */
export type Outcome =
  | { readonly type: "result"; readonly result: ToolResult | RawResult }
  | { readonly type: "input_required"; readonly canonicalName: string; readonly asked: InputRequired }
  | { readonly type: "error"; readonly error: ToolError };

/** The one door behind every door. Nothing of it rejects or throws. */
export interface Caller {
  /** The tools that this caller may see. */
  list(ctx: ToolContext): Promise<readonly ToolDefinition[]>;
  /** All of a kind that this caller may see. */
  items(kind: ItemKind, ctx: ToolContext): Promise<readonly Item[]>;
  /** What an operation would be about, if this caller may see it. */
  find(operation: Operation, ctx: ToolContext): Promise<Item | undefined>;
  call(operation: Operation, ctx: ToolContext): Promise<Outcome>;
  /** Calls back when a list may answer something else. Returns how to stop. */
  watch(listener: (kind: ListKind) => void): () => void;
  info(): Promise<ProviderInfo>;
}
