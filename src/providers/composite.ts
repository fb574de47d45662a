import type { ToolContext } from "../core/context.ts";
import type { Log } from "../core/effects.ts";
import { ToolError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { exposedName, isNamespace, splitName } from "../core/names.ts";
import type { Item, Resolver } from "../core/operation.ts";
import type { ListKind, ToolFacts, ToolProvider } from "../core/provider.ts";
import type { ToolOutput } from "../core/result.ts";
import type { ToolDefinition } from "../core/tool.ts";
import { Mount, type Catalogue } from "./mount.ts";

/**
 * Many providers behind one list. A tool `read` of the provider `fs` is `fs__read` here; a name that clients
 * would refuse is made safe (see `exposedName`). A name never depends on who else is mounted.
 */
export class CompositeToolProvider implements ToolProvider, Resolver {
  readonly namespace: string;
  readonly #log: Log;
  readonly #mounts = new Map<string, Mount>();
  readonly #listeners = new Set<(kind: ListKind) => void>();
  /** By exposed name, as last built. */
  #index: ReadonlyMap<string, Item> = new Map();
  /** The index is complete and nothing has changed since. */
  #isCurrent = false;
  #version = 0;

  constructor(options: { namespace?: string; log?: Log } = {}) {
    this.namespace = options.namespace ?? "toolgate";
    this.#log = options.log ?? (() => {});
  }

  /** Mounts one more, last in order. Throws if its namespace is malformed or taken. */
  add(provider: ToolProvider): this {
    const { namespace } = provider;
    if (!isNamespace(namespace))
      throw new Error(
        `"${namespace}" cannot be a namespace: it starts with a letter, holds letters, digits, "-" and single "_", and does not end in "_".`,
      );
    if (this.#mounts.has(namespace))
      throw new Error(`There is a provider "${namespace}" already. Give one of them another namespace.`);
    const mount = new Mount(provider, { log: this.#log, expose: ({ canonical }) => exposedName(canonical) });
    this.#mounts.set(namespace, mount);
    provider.watch?.((kind) => this.#changed(kind));
    this.#changed("tools");
    return this;
  }

  /** All items, in the order of mounting and then of each provider. What cannot list now is left out, and asked again next time. */
  async items(): Promise<readonly Item[]> {
    return [...(await this.#build()).values()];
  }

  resolve(name: string): Item | undefined | Promise<Item | undefined> {
    const known = this.#isCurrent ? this.#index.get(name) : undefined;
    if (known) return known;
    // A name of the full length may be a cut one, without its namespace: only the whole list knows it.
    if (name.length === 64) return this.#build().then((index) => index.get(name) ?? this.#find(name));
    return this.#find(name);
  }

  async listTools(): Promise<readonly ToolDefinition[]> {
    return (await this.items()).map((item) => item.definition);
  }

  async callTool(name: string, args: JsonObject, ctx: ToolContext): Promise<ToolOutput> {
    for (let item = await this.resolve(name); item; item = item.otherwise) {
      try {
        return await item.provider.callTool(item.name, args, ctx);
      } catch (error) {
        if (!(error instanceof ToolError && error.code === "NotFound")) throw error;
      }
    }
    throw ToolError.notFound(name);
  }

  facts(name: string): ToolFacts | undefined {
    return this.#index.get(name)?.facts;
  }

  watch(listener: (kind: ListKind) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    const closing = [...this.#mounts.values()].map(async ({ provider }) => provider.close?.());
    const failure = (await Promise.allSettled(closing)).find((end) => end.status === "rejected");
    if (failure) throw failure.reason;
  }

  #changed(kind: ListKind): void {
    if (kind === "tools") {
      this.#isCurrent = false;
      this.#version += 1;
    }
    for (const listener of this.#listeners) listener(kind);
  }

  #find(name: string): Item | undefined | Promise<Item | undefined> {
    const split = splitName(name);
    if (!split) return this.#search(name, [...this.#mounts.values()]);
    const mount = this.#mounts.get(split.namespace);
    if (!mount) return undefined;
    const catalogue = mount.catalogue();
    const find = (from: Catalogue): Item | undefined => mount.find(from, split.tool, name);
    return catalogue instanceof Promise ? catalogue.then(find) : find(catalogue);
  }

  async #build(): Promise<ReadonlyMap<string, Item>> {
    if (this.#isCurrent) return this.#index;
    const version = this.#version;
    const catalogues = await Promise.all([...this.#mounts.values()].map((mount) => this.#ifKnown(mount)));
    const index = new Map<string, Item>();
    for (const item of catalogues.flatMap((catalogue) => catalogue?.items ?? [])) {
      const clash = index.get(item.definition.name);
      if (clash)
        this.#log("warning", `${item.canonicalName} is left out: ${clash.canonicalName} has its name`);
      else index.set(item.definition.name, item);
    }
    this.#index = index;
    this.#isCurrent = version === this.#version && !catalogues.includes(undefined);
    return index;
  }

  /** Undefined for a provider that is away. */
  async #ifKnown(mount: Mount): Promise<Catalogue | undefined> {
    try {
      return await mount.catalogue();
    } catch (error) {
      this.#log("info", `${mount.provider.namespace} cannot list its tools now`, { error: String(error) });
      return undefined;
    }
  }

  /**
   * A name without a namespace belongs to the first catalogue that has it. Nothing is called to find out,
   * except where a provider cannot list: then the search goes on, at call time, if that one says `NotFound`.
   */
  async #search(name: string, mounts: readonly Mount[]): Promise<Item | undefined> {
    for (const [at, mount] of mounts.entries()) {
      const catalogue = await this.#ifKnown(mount);
      const item = catalogue && mount.find(catalogue, name, name);
      if (!item) continue;
      if (!catalogue.unlisted) return item;
      const otherwise = await this.#search(name, mounts.slice(at + 1));
      return otherwise ? { ...item, otherwise } : item;
    }
    return undefined;
  }
}
