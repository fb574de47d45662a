import type { JsonObject } from "../core/json.ts";
import type { Tool, ToolDefinition } from "../core/tool.ts";

/** Chat Completions' form. */
export interface OpenAIToolDefinition {
  type: "function";
  function: { name: string; description?: string; parameters: JsonObject };
}

export interface AnthropicToolDefinition {
  name: string;
  description?: string;
  input_schema: JsonObject;
}

interface DefinitionForms {
  mcp: ToolDefinition;
  anthropic: AnthropicToolDefinition;
  openai: OpenAIToolDefinition;
}

interface Entry {
  tool: Tool;
  owner: string;
}

/** Tools by name, for a program that defines its own. Lists are sorted by name, so their bytes do not depend on who came first. */
export class ToolRegistry {
  readonly #entries = new Map<string, Entry>();
  readonly #listeners = new Set<() => void>();

  /** `owner` says who brought the tool. Throws if the name is taken, naming both owners. */
  register(tool: Tool, owner = "application"): void {
    const there = this.#entries.get(tool.name);
    if (there)
      throw new Error(
        `Tool "${tool.name}" of ${owner} is already registered by ${there.owner}. ` +
          `Choose another name, or call replace() if that is meant.`,
      );
    this.#set(tool, owner);
  }

  /** Registers, whoever had the name before. */
  replace(tool: Tool, owner = "application"): void {
    this.#set(tool, owner);
  }

  /** False if there was no such tool. */
  unregister(name: string): boolean {
    const removed = this.#entries.delete(name);
    if (removed) this.#changed();
    return removed;
  }

  get(name: string): Tool | undefined {
    return this.#entries.get(name)?.tool;
  }

  list(): readonly Tool[] {
    const tools = [...this.#entries.values()].map((entry) => entry.tool);
    return tools.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** All tools in the form that an API takes. */
  definitions<F extends keyof DefinitionForms>(form: F): DefinitionForms[F][] {
    return this.list().map((tool) => forms[form](tool.definition));
  }

  /** Calls back after each change. Returns how to stop. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #set(tool: Tool, owner: string): void {
    this.#entries.set(tool.name, { tool, owner });
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

const forms: { [F in keyof DefinitionForms]: (definition: ToolDefinition) => DefinitionForms[F] } = {
  mcp: (definition) => definition,
  anthropic: ({ name, description, inputSchema }) => ({
    name,
    ...(description !== undefined && { description }),
    input_schema: inputSchema,
  }),
  openai: ({ name, description, inputSchema }) => ({
    type: "function",
    function: { name, ...(description !== undefined && { description }), parameters: inputSchema },
  }),
};
