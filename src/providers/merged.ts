import type { Log } from "../core/effects.ts";
import type { Item, ItemKind } from "../core/operation.ts";
import type { Mount } from "./mount.ts";
import { exposedNameOf, type Catalogue } from "./shelf.ts";

/** More items left out at once than this are counted in the log, not named. */
const maxNamed = 20;

/** One kind of item of many mounts, in their order, by the name under which callers find it. */
export class Merged {
  readonly #kind: ItemKind;
  readonly #mounts: ReadonlyMap<string, Mount>;
  readonly #log: Log;
  #index: ReadonlyMap<string, Item> = new Map();
  /** The index is complete and nothing has changed since. */
  #isCurrent = false;
  #version = 0;
  /** What the log has been told of the index as it is: a build that finds the same is no news. */
  #told: ReadonlySet<string> = new Set();

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
    const leftOut = new Set<string>();
    for (const item of catalogues.flatMap((catalogue) => catalogue?.items ?? [])) {
      const name = exposedNameOf(item);
      const owner = index.get(name);
      if (!owner) index.set(name, item);
      else
        leftOut.add(
          `${item.canonicalName} is left out: ${owner.canonicalName} has its name. ` +
            `It is reachable where ${item.provider.namespace} is served alone`,
        );
    }
    this.#tell(leftOut);
    return index;
  }

  #tell(leftOut: ReadonlySet<string>): void {
    const news = [...leftOut].filter((line) => !this.#told.has(line));
    this.#told = leftOut;
    for (const line of news.slice(0, maxNamed)) this.#log("warning", line);
    if (news.length > maxNamed)
      this.#log("warning", `${news.length - maxNamed} more are left out: their names are taken.`);
  }
}
