import type { ToolContext } from "./context.ts";
import type { ToolError } from "./errors.ts";
import type { JsonObject, Meta } from "./json.ts";
import type { ToolFacts, ToolProvider } from "./provider.ts";
import type { ToolResult } from "./result.ts";
import type { ToolDefinition } from "./tool.ts";

/** One thing that a caller wants done. `kind` is MCP's name of the method. */
export interface Operation {
  readonly kind: "tools/call";
  /** The name as the caller said it: canonical, safe or without its namespace. */
  readonly name: string;
  readonly arguments: JsonObject;
  readonly meta?: Meta;
}

/** One entry of a catalogue: what callers see, and where it really lives. */
export interface Item {
  readonly kind: "tool";
  readonly provider: ToolProvider;
  /** The provider's own name for it. */
  readonly name: string;
  /** `{namespace}__{name}`, never mangled: what guards, logs and the audit see. */
  readonly canonicalName: string;
  /** As callers see it: its `name` is the exposed one. */
  readonly definition: ToolDefinition;
  readonly facts: ToolFacts;
  /** Where the search goes on if the provider, which could not list, answers `NotFound`. */
  readonly otherwise?: Item;
}

/** An operation after the one resolution of its name. Frozen once its arguments are final. */
export interface ResolvedOperation extends Operation {
  readonly meta: Meta;
  /** The item's, or the name as asked where there is no item. */
  readonly canonicalName: string;
  /** Absent: nothing here has that name, or this caller may not see it. */
  readonly item?: Item;
  /** Why there is no item, where it is something else than `NotFound`. */
  readonly failure?: ToolError;
}

/** Knows what there is. The composite implements it. */
export interface Resolver {
  /** Everything, in a deterministic order. Must not reject: what cannot be listed is left out. */
  items(): readonly Item[] | Promise<readonly Item[]>;
  /** Rejects with `ToolError` where the owner is known but cannot say. Calls nothing to find out. */
  resolve(name: string): Item | undefined | Promise<Item | undefined>;
  /** Calls back when `items()` may have changed. */
  watch(listener: () => void): () => void;
}

export type Next = (operation: ResolvedOperation, ctx: ToolContext) => Promise<ToolResult>;

/** One guard. Both members are optional, so that one name may filter, wrap, or both. */
export interface Middleware {
  readonly name: string;
  /**
   * May this caller see the item? Pure, judges one item, never renames. It holds for lists and again for
   * the one item that is called: what a caller cannot see, it cannot call.
   */
  visible?(item: Item, ctx: ToolContext): boolean;
  /** Wraps the call. May answer by itself, rewrite the operation before it is frozen, or throw a `ToolError`. A second `next()` throws. */
  call?(operation: ResolvedOperation, ctx: ToolContext, next: Next): Promise<ToolResult>;
}

/** How a call ended: the tool's answer, or why there is none. */
export type Outcome =
  | { readonly type: "result"; readonly result: ToolResult }
  | { readonly type: "error"; readonly error: ToolError };

/** The one door behind every door. Neither method rejects or throws. */
export interface Caller {
  list(ctx: ToolContext): Promise<readonly ToolDefinition[]>;
  call(operation: Operation, ctx: ToolContext): Promise<Outcome>;
  /** Calls back when `list` may answer something else. Returns how to stop. */
  watch(listener: () => void): () => void;
}
