import type { Log } from "../core/effects.ts";
import { ToolError } from "../core/errors.ts";
import { joinName } from "../core/names.ts";
import type { Item, Resolver } from "../core/operation.ts";
import type { ToolProvider } from "../core/provider.ts";
import type { ToolDefinition } from "../core/tool.ts";

/** The name under which callers see a tool. */
export type Expose = (names: { canonical: string; own: string }) => string;

export interface Catalogue {
  readonly items: readonly Item[];
  readonly byOwnName: ReadonlyMap<string, Item>;
  readonly byExposedName: ReadonlyMap<string, Item>;
  /** The provider can call but not list: any name may be there. */
  readonly unlisted: boolean;
}

const originalName = "dev.toolgate/originalName";

/**
 * One provider where callers see it: names are exposed going up and given back going down. The catalogue is
 * read once and again after each change that the provider tells of. By itself it serves a single provider
 * under its own names.
 */
export class Mount implements Resolver {
  readonly provider: ToolProvider;
  readonly #expose: Expose;
  readonly #log: Log;
  #loaded: Catalogue | undefined;
  #loading: Promise<Catalogue> | undefined;
  #version = 0;

  constructor(provider: ToolProvider, options: { log: Log; expose?: Expose }) {
    this.provider = provider;
    this.#log = options.log;
    this.#expose = options.expose ?? (({ own }) => own);
    provider.watch?.((kind) => {
      if (kind !== "tools") return;
      this.#version += 1;
      this.#loaded = this.#loading = undefined;
    });
  }

  /** At once where it has been read; rejects with the provider's `ToolError` where it cannot say, and asks again next time. */
  catalogue(): Catalogue | Promise<Catalogue> {
    return this.#loaded ?? this.#loading ?? this.#start();
  }

  async items(): Promise<readonly Item[]> {
    try {
      return (await this.catalogue()).items;
    } catch (error) {
      this.#log("debug", `${this.provider.namespace} cannot list its tools now`, { error: String(error) });
      return [];
    }
  }

  async resolve(name: string): Promise<Item | undefined> {
    return this.find(await this.catalogue(), name, name);
  }

  find(catalogue: Catalogue, own: string, exposed: string): Item | undefined {
    return (
      catalogue.byOwnName.get(own) ??
      catalogue.byExposedName.get(exposed) ??
      (catalogue.unlisted ? this.#item({ name: own, inputSchema: { type: "object" } }) : undefined)
    );
  }

  watch(listener: () => void): () => void {
    return this.provider.watch?.((kind) => kind === "tools" && listener()) ?? (() => {});
  }

  #start(): Promise<Catalogue> {
    const version = this.#version;
    const loading = this.#load(version);
    // A provider may tell of a change before `listTools` even returns: then nobody else waits for this one.
    if (version === this.#version) this.#loading = loading;
    return loading;
  }

  async #load(version: number): Promise<Catalogue> {
    try {
      const catalogue = await this.#read();
      // After a change meanwhile this answer is old news: it serves who waits for it and is not kept.
      if (version === this.#version) this.#loaded = catalogue;
      return catalogue;
    } finally {
      if (version === this.#version) this.#loading = undefined;
    }
  }

  async #read(): Promise<Catalogue> {
    let definitions: readonly ToolDefinition[];
    try {
      definitions = await this.provider.listTools();
    } catch (error) {
      if (error instanceof ToolError && error.code === "Unsupported") return emptyCatalogue(true);
      throw error;
    }
    const byOwnName = new Map<string, Item>();
    const byExposedName = new Map<string, Item>();
    for (const definition of definitions) {
      const item = this.#item(definition);
      const clash = byExposedName.get(item.definition.name);
      if (clash) {
        this.#log(
          "warning",
          `${item.canonicalName} is left out: its name ${item.definition.name} is taken by ${clash.canonicalName}`,
        );
        continue;
      }
      byOwnName.set(item.name, item);
      byExposedName.set(item.definition.name, item);
    }
    return { items: [...byOwnName.values()], byOwnName, byExposedName, unlisted: false };
  }

  #item(definition: ToolDefinition): Item {
    const own = definition.name;
    const canonicalName = joinName(this.provider.namespace, own);
    const exposed = this.#expose({ canonical: canonicalName, own });
    const mangled = exposed !== canonicalName && exposed !== own;
    return {
      kind: "tool",
      provider: this.provider,
      name: own,
      canonicalName,
      definition: {
        ...definition,
        name: exposed,
        ...(mangled && { _meta: { ...definition._meta, [originalName]: own } }),
      },
      facts: this.provider.facts?.(own) ?? {},
    };
  }
}

const emptyCatalogue = (unlisted: boolean): Catalogue => ({
  items: [],
  byOwnName: new Map(),
  byExposedName: new Map(),
  unlisted,
});
