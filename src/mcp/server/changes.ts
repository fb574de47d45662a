import type { Caller } from "../../core/operation.ts";
import type { ListKind } from "../../core/provider.ts";

/** Tells whoever listens that a list has changed: a burst of changes of one kind is told once. */
export class Changes {
  readonly #listeners = new Set<(kind: ListKind) => void>();
  readonly #queued = new Set<ListKind>();
  /** Nothing more is told. */
  readonly close: () => void;

  constructor(caller: Pick<Caller, "watch">) {
    this.close = caller.watch((kind) => this.#changed(kind));
  }

  /** Returns how to stop. */
  listen(listener: (kind: ListKind) => void): () => void {
    const own = (kind: ListKind): void => listener(kind);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  #changed(kind: ListKind): void {
    if (this.#queued.has(kind)) return;
    this.#queued.add(kind);
    queueMicrotask(() => {
      this.#queued.delete(kind);
      for (const listener of this.#listeners) listener(kind);
    });
  }
}
