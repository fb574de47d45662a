import type { JsonObject } from "../core/json.ts";
import type { List } from "../mcp/client/connect.ts";

/** Where a server neither tells changes nor says how long a list stays fresh it is read again after this, in milliseconds. */
const refreshMs = 30_000;

/** One list as the server last gave it. */
export class KeptList {
  readonly #key: string;
  #entries: readonly JsonObject[] | undefined;
  #keys: ReadonlySet<unknown> = new Set();
  #staleAt = 0;

  /** `key` is the member that names an entry. */
  constructor(key: string) {
    this.#key = key;
  }

  /** Undefined until the first one. */
  get entries(): readonly JsonObject[] | undefined {
    return this.#entries;
  }

  has(name: string): boolean {
    return this.#keys.has(name);
  }

  /** True if it differs from the one before. `isTold` where the server tells of changes. */
  keep({ entries, ttlMs }: List, { now, isTold }: { now: number; isTold: boolean }): boolean {
    if (ttlMs > 0) this.#staleAt = now + ttlMs;
    else this.#staleAt = isTold ? Infinity : now + refreshMs;
    const before = this.#entries ?? [];
    this.#entries = before;
    if (JSON.stringify(before) === JSON.stringify(entries)) return false;
    this.#entries = entries;
    this.#keys = new Set(entries.map((entry) => entry[this.#key]));
    return true;
  }

  /** True if it should be read again, and then not again for a while, however that ends. */
  takeStale(now: number): boolean {
    if (now < this.#staleAt) return false;
    this.#staleAt = now + refreshMs;
    return true;
  }
}
