import type { Clock, Log } from "../core/effects.ts";
import type { JsonObject } from "../core/json.ts";
import type { ListKind } from "../core/provider.ts";
import {
  listNames,
  lists,
  SessionLost,
  type List,
  type ListName,
  type UpstreamConnection,
} from "../mcp/client/connect.ts";
import { KeptList } from "./keptList.ts";
import { Rereader } from "./rereader.ts";
import type { Supervisor } from "./supervisor.ts";

export interface UpstreamListsOptions {
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly supervisor: Pick<Supervisor, "ready" | "state" | "connected" | "renew">;
}

/** The lists of one upstream as last read: each is read again when it changes, and when it has grown old and is asked for. */
export class UpstreamLists {
  readonly #options: UpstreamListsOptions;
  readonly #kept: Readonly<Record<ListName, KeptList>>;
  readonly #rereaders: Readonly<Record<ListKind, Rereader>>;
  readonly #listeners = new Set<(kind: ListKind) => void>();

  constructor(options: UpstreamListsOptions) {
    this.#options = options;
    const kept = (name: ListName): KeptList => new KeptList(lists[name].key.member);
    this.#kept = {
      tools: kept("tools"),
      prompts: kept("prompts"),
      resources: kept("resources"),
      resourceTemplates: kept("resourceTemplates"),
    };
    const rereader = (kind: ListKind): Rereader => new Rereader(options.clock, () => this.#reread(kind));
    this.#rereaders = {
      tools: rereader("tools"),
      prompts: rereader("prompts"),
      resources: rereader("resources"),
    };
  }

  /** Undefined before a first connection. A list that could not be read even once is empty. */
  get(name: ListName): readonly JsonObject[] | undefined {
    return this.#kept.tools.entries && (this.#kept[name].entries ?? []);
  }

  /** Somebody wants these lists: if one is old they are read again, for the next who does. */
  refresh(kind: ListKind): void {
    const { clock, supervisor } = this.#options;
    if (!supervisor.ready) return;
    const stale = listNames.filter(
      (name) => lists[name].kind === kind && this.#kept[name].takeStale(clock.now()),
    );
    if (stale.length > 0) this.changed(kind);
  }

  has(name: ListName, key: string): boolean {
    return this.#kept[name].has(key);
  }

  /** Reads all lists on a connection that is new, side by side. Rejects if its tools cannot be listed. */
  async read(connection: UpstreamConnection): Promise<void> {
    const read = async (name: ListName): Promise<List | undefined> => {
      try {
        return await connection.list(name);
      } catch (error) {
        if (name === "tools" || this.#options.supervisor.state === "closed") throw error;
        this.#warn(`cannot list its ${lists[name].noun}s: ${String(error)}`);
        return undefined;
      }
    };
    this.#keep(
      await Promise.all(listNames.map(async (name) => ({ name, list: await read(name) }))),
      connection,
    );
  }

  changed(kind: ListKind): void {
    this.#rereaders[kind].changed();
  }

  /** Calls back when a list differs from the one before. Returns how to stop. */
  watch(listener: (kind: ListKind) => void): () => void {
    const own = (kind: ListKind): void => listener(kind);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  close(): void {
    for (const rereader of Object.values(this.#rereaders)) rereader.close();
  }

  async #reread(kind: ListKind): Promise<void> {
    const { supervisor } = this.#options;
    let connection: UpstreamConnection | undefined;
    try {
      connection = await supervisor.connected();
      const current = connection;
      const names = listNames.filter((name) => lists[name].kind === kind);
      const read = await Promise.all(names.map(async (name) => ({ name, list: await current.list(name) })));
      // Else it was lost meanwhile, and what another has read is newer.
      if (supervisor.ready === connection) this.#keep(read, connection);
    } catch (error) {
      if (supervisor.state === "closed") return;
      if (connection && error instanceof SessionLost) return supervisor.renew(connection);
      this.#warn(`has changed its ${kind}, but the last good list stays: ${String(error)}`);
    }
  }

  /** All at once: who hears of one that differs may ask for the others. */
  #keep(read: readonly { name: ListName; list: List | undefined }[], connection: UpstreamConnection): void {
    const now = this.#options.clock.now();
    const changed = new Set<ListKind>();
    for (const { name, list } of read) {
      const { kind } = lists[name];
      const isTold = connection.tellsChanges(kind);
      if (list && this.#kept[name].keep(list, { now, isTold })) changed.add(kind);
    }
    for (const kind of changed) for (const listener of this.#listeners) listener(kind);
  }

  #warn(what: string): void {
    this.#options.log("warning", `Upstream "${this.#options.namespace}" ${what}`);
  }
}
