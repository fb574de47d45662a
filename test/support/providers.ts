import type { ToolContext } from "../../src/core/context.ts";
import { ToolError } from "../../src/core/errors.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { joinName } from "../../src/core/names.ts";
import type { Item, Operation, Resolver } from "../../src/core/operation.ts";
import type { ListKind, ToolFacts, ToolProvider } from "../../src/core/provider.ts";
import type { ToolOutput } from "../../src/core/result.ts";
import type { ToolDefinition } from "../../src/core/tool.ts";

export const definition = (name: string): ToolDefinition => ({ name, inputSchema: { type: "object" } });

type Answer = (name: string, args: JsonObject, ctx: ToolContext) => ToolOutput | Promise<ToolOutput>;

/** A provider that does what a test says and keeps count of what was asked of it. */
export class FakeProvider implements ToolProvider {
  readonly namespace: string;
  tools: readonly string[];
  /** What listing rejects with, while it is set. */
  listFailure: Error | undefined;
  /** Runs while the list is being read; the answer is made after it. */
  whileListing: (() => void | Promise<void>) | undefined;
  answer: Answer = (name) => `${this.namespace}:${name}`;
  factsOf: ((name: string) => ToolFacts) | undefined;
  lists = 0;
  closes = 0;
  readonly called: string[] = [];
  readonly #listeners = new Set<(kind: ListKind) => void>();

  constructor(namespace: string, tools: readonly string[] = []) {
    this.namespace = namespace;
    this.tools = tools;
  }

  /** One that can call and not list. */
  static unlisted(namespace: string, tools: readonly string[] = []): FakeProvider {
    const provider = new FakeProvider(namespace, tools);
    provider.listFailure = new ToolError("Unsupported", `${namespace} cannot list`);
    return provider;
  }

  async listTools(): Promise<readonly ToolDefinition[]> {
    this.lists += 1;
    const answer = this.tools.map(definition);
    await this.whileListing?.();
    if (this.listFailure) throw this.listFailure;
    return answer;
  }

  async callTool(name: string, args: JsonObject, ctx: ToolContext): Promise<ToolOutput> {
    this.called.push(name);
    if (!this.tools.includes(name)) throw ToolError.notFound(name);
    return this.answer(name, args, ctx);
  }

  facts(name: string): ToolFacts | undefined {
    return this.factsOf?.(name);
  }

  watch(listener: (kind: ListKind) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.closes += 1;
  }

  change(kind: ListKind = "tools"): void {
    for (const listener of this.#listeners) listener(kind);
  }
}

export const unavailable = (namespace: string): ToolError =>
  new ToolError("Unavailable", `${namespace} cannot be reached now`);

/** The item of a provider's tool, as callers see it without a mangled name. */
export function itemOf(provider: ToolProvider, name: string, otherwise?: Item): Item {
  const canonicalName = joinName(provider.namespace, name);
  return {
    kind: "tool",
    provider,
    name,
    canonicalName,
    definition: definition(canonicalName),
    facts: {},
    ...(otherwise && { otherwise }),
  };
}

/** Knows these items, whatever is to be done with them, by their canonical and by their own names. */
export function resolverOf(...items: readonly Item[]): Resolver {
  return {
    items: (kind) => items.filter((item) => item.kind === kind),
    resolve: ({ name }) => items.find((item) => item.canonicalName === name || item.name === name),
    watch: () => () => {},
    info: async () => ({ capabilities: {} }),
  };
}

export const callOf = (name: string, args: JsonObject = {}): Operation => ({
  kind: "tools/call",
  name,
  arguments: args,
});

/** A log that is kept. */
export function keptLog(): {
  lines: { level: string; message: string; fields: JsonObject }[];
  log(level: string, message: string, fields?: JsonObject): void;
} {
  const lines: { level: string; message: string; fields: JsonObject }[] = [];
  return { lines, log: (level, message, fields = {}) => void lines.push({ level, message, fields }) };
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** A promise that a test settles. */
export function deferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((one, other) => {
    resolve = one;
    reject = other;
  });
  return { promise, resolve, reject };
}
