import type { ToolContext } from "../core/context.ts";
import { ToolError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { ListKind, ToolFacts, ToolProvider } from "../core/provider.ts";
import { ToolResult, type ToolOutput } from "../core/result.ts";
import type { ToolDefinition } from "../core/tool.ts";
import type { ToolRegistry } from "../runtime/registry.ts";

/** Runs one of the tools by name. May throw. */
export type Dispatch = (name: string, args: JsonObject, ctx: ToolContext) => ToolOutput | Promise<ToolOutput>;

interface Source {
  list(): readonly ToolDefinition[];
  has(name: string): boolean;
  dispatch: Dispatch;
  facts?(name: string): ToolFacts | undefined;
  watch?(listener: () => void): () => void;
}

/** Local functions as a provider: over definitions and a dispatcher, or over a registry. */
export class BuiltinToolProvider implements ToolProvider {
  readonly namespace: string;
  readonly #source: Source;

  private constructor(namespace: string, source: Source) {
    this.namespace = namespace;
    this.#source = source;
  }

  static of(
    definitions: readonly ToolDefinition[],
    dispatch: Dispatch,
    namespace = "builtin",
  ): BuiltinToolProvider {
    const names = new Set(definitions.map((definition) => definition.name));
    return new BuiltinToolProvider(namespace, {
      list: () => definitions,
      has: (name) => names.has(name),
      dispatch,
    });
  }

  /** Follows the registry: what is registered later is served too. */
  static over(registry: ToolRegistry, namespace = "builtin"): BuiltinToolProvider {
    return new BuiltinToolProvider(namespace, {
      list: () => registry.definitions("mcp"),
      has: (name) => registry.get(name) !== undefined,
      dispatch: (name, args, ctx) => registry.get(name)!.execute(args, ctx),
      facts: (name) => registry.get(name),
      watch: (listener) => registry.watch(listener),
    });
  }

  async listTools(): Promise<readonly ToolDefinition[]> {
    return this.#source.list();
  }

  /** Existence is checked before anything runs. A dispatcher's `ExecutionFailed` is a result, any other throw is its caller's. */
  async callTool(name: string, args: JsonObject, ctx: ToolContext): Promise<ToolOutput> {
    if (!this.#source.has(name)) throw ToolError.notFound(name);
    try {
      return await this.#source.dispatch(name, args, ctx);
    } catch (error) {
      if (error instanceof ToolError && error.code === "ExecutionFailed")
        return ToolResult.withMetadata(ToolResult.error(error.message), { code: error.code });
      throw error;
    }
  }

  facts(name: string): ToolFacts | undefined {
    return this.#source.facts?.(name);
  }

  watch(listener: (kind: ListKind) => void): () => void {
    return this.#source.watch?.(() => listener("tools")) ?? (() => {});
  }
}
