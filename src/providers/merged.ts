import type { Log } from "../core/effects.ts";
import type { Item, ItemKind } from "../core/operation.ts";
import type { Mount } from "./mount.ts";
import { exposedNameOf, type Catalogue } from "./shelf.ts";

/** One kind of item of many mounts, in their order, by the name under which callers find it. */
export class Merged {
  readonly #kind: ItemKind;
  readonly #mounts: ReadonlyMap<string, Mount>;
  readonly #log: Log;
  #index: ReadonlyMap<string, Item> = new Map();
  /** The index is complete and nothing has changed since. */
  #isCurrent = false;
  #version = 0;

  constructor(kind: ItemKind, mounts: ReadonlyMap<string, Mount>, log: Log) {
    this.#kind = kind;
    this.#mounts = mounts;
    this.#log = log;
  }

  changed(): void {
    this.#isCurrent = false;
    this.#version += 1;
  }

  /** As last built. */
  get last(): ReadonlyMap<string, Item> {
    return this.#index;
  }

  /** The item, where the index is current: then nobody has to wait. */
  known(name: string): Item | undefined {
    return this.#isCurrent ? this.#index.get(name) : undefined;
  }

  /** What cannot be listed now is left out, and asked again next time. */
  async build(): Promise<ReadonlyMap<string, Item>> {
    if (this.#isCurrent) return this.#index;
    const version = this.#version;
    const catalogues = await Promise.all(
      [...this.#mounts.values()].map((mount) => mount.shelves[this.#kind].ifKnown()),
    );
    const index = this.#join(catalogues);
    this.#index = index;
    this.#isCurrent = version === this.#version && !catalogues.includes(undefined);
    return index;
  }

  #join(catalogues: readonly (Catalogue | undefined)[]): ReadonlyMap<string, Item> {
    const index = new Map<string, Item>();
    for (const item of catalogues.flatMap((catalogue) => catalogue?.items ?? [])) {
      const name = exposedNameOf(item);
      const owner = index.get(name);
      if (!owner) index.set(name, item);
      else
        this.#log(
          "warning",
          `${item.canonicalName} is left out: ${owner.canonicalName} has its name. ` +
            `It is reachable where ${item.provider.namespace} is served alone`,
        );
    }
    return index;
  }
}
