import type { Log } from "../core/effects.ts";
import { ToolError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { joinName } from "../core/names.ts";
import type { Item, ItemKind } from "../core/operation.ts";
import type { ListKind, ToolProvider } from "../core/provider.ts";
import type { ToolDefinition } from "../core/tool.ts";

/** The name under which callers see a tool or a prompt. */
export type Expose = (names: { canonical: string; own: string }) => string;

/** What one provider has of one kind. */
export interface Catalogue {
  readonly items: readonly Item[];
  readonly byOwnName: ReadonlyMap<string, Item>;
  readonly byExposedName: ReadonlyMap<string, Item>;
  /** The provider can call but not list: any name may be there. */
  readonly unlisted: boolean;
}

export interface ShelfOptions {
  readonly provider: ToolProvider;
  readonly kind: ItemKind;
  readonly log: Log;
  readonly expose: Expose;
}

const originalName = "dev.toolgate/originalName";

/** The member of a definition that names it. */
const nameMember = {
  tool: "name",
  prompt: "name",
  resource: "uri",
  resourceTemplate: "uriTemplate",
  task: "taskId",
} as const;

/** Which list a kind of item is part of. */
export const listOf: Readonly<Record<ItemKind, ListKind>> = {
  tool: "tools",
  prompt: "prompts",
  resource: "resources",
  resourceTemplate: "resources",
};

/** One kind of item of one provider, read once and again after each change that the provider tells of. */
export class Shelf {
  readonly #options: ShelfOptions;
  #loaded: Catalogue | undefined;
  #loading: Promise<Catalogue> | undefined;
  #version = 0;

  constructor(options: ShelfOptions) {
    this.#options = options;
  }

  changed(): void {
    this.#version += 1;
    this.#loaded = this.#loading = undefined;
  }

  /** At once where it has been read; rejects with the provider's `ToolError` where it cannot say, and asks again next time. */
  catalogue(): Catalogue | Promise<Catalogue> {
    return this.#loaded ?? this.#loading ?? this.#start();
  }

  /** Undefined, and told in the log, for a provider that is away. */
  async ifKnown(): Promise<Catalogue | undefined> {
    const { provider, kind, log } = this.#options;
    try {
      return await this.catalogue();
    } catch (error) {
      log("info", `${provider.namespace} cannot list its ${listOf[kind]} now`, { error: String(error) });
      return undefined;
    }
  }

  /** An item that is on no list. */
  unlisted(own: string): Item {
    const { kind } = this.#options;
    return this.#item({
      [nameMember[kind]]: own,
      ...(kind === "tool" && { inputSchema: { type: "object" } }),
    });
  }

  #start(): Promise<Catalogue> {
    const version = this.#version;
    const loading = this.#load(version);
    // A provider may tell of a change before its list is even asked for: then nobody else waits for this one.
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
    let definitions: readonly JsonObject[];
    try {
      definitions = await this.#list();
    } catch (error) {
      if (error instanceof ToolError && error.code === "Unsupported") return empty(true);
      throw error;
    }
    const byOwnName = new Map<string, Item>();
    const byExposedName = new Map<string, Item>();
    for (const definition of definitions) {
      const item = this.#item(definition);
      const exposed = exposedNameOf(item);
      const clash = byExposedName.get(exposed);
      if (clash) {
        this.#options.log(
          "warning",
          `${item.canonicalName} is left out: its name ${exposed} is taken by ${clash.canonicalName}`,
        );
        continue;
      }
      byOwnName.set(item.name, item);
      byExposedName.set(exposed, item);
    }
    return { items: [...byOwnName.values()], byOwnName, byExposedName, unlisted: false };
  }

  async #list(): Promise<readonly JsonObject[]> {
    const { provider, kind } = this.#options;
    switch (kind) {
      case "tool":
        return provider.listTools();
      case "prompt":
        return provider.prompts?.listPrompts() ?? [];
      case "resource":
        return provider.resources?.listResources() ?? [];
      case "resourceTemplate":
        return provider.resources?.listResourceTemplates() ?? [];
    }
  }

  #item(definition: JsonObject): Item {
    const { provider, kind, expose } = this.#options;
    const own = String(definition[nameMember[kind]]);
    const canonicalName = joinName(provider.namespace, own);
    const entry = { provider, name: own, canonicalName, facts: {} };
    // A URI is the same wherever it is seen.
    if (kind === "resource" || kind === "resourceTemplate") return { ...entry, kind, definition };
    const exposed = expose({ canonical: canonicalName, own });
    const mangled = exposed !== canonicalName && exposed !== own;
    const shown: JsonObject = {
      ...definition,
      name: exposed,
      ...(mangled && { _meta: { ...(definition["_meta"] as JsonObject), [originalName]: own } }),
    };
    if (kind === "prompt") return { ...entry, kind, definition: shown };
    return { ...entry, kind, definition: shown as ToolDefinition, facts: provider.facts?.(own) ?? {} };
  }
}

/** Under which callers find it. */
export function exposedNameOf({ kind, definition }: Item): string {
  return String(definition[nameMember[kind]]);
}

function empty(unlisted: boolean): Catalogue {
  return { items: [], byOwnName: new Map(), byExposedName: new Map(), unlisted };
}
