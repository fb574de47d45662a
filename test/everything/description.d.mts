import type { JsonObject } from "../../src/core/json.ts";
import type { ListKind } from "../../src/core/provider.ts";

/** What changes while a server runs. */
export interface World {
  /** Adds one entry to a list, or takes it away again. */
  toggle(kind: ListKind): void;
  /** Changes a resource. */
  update(uri: string): void;
  /** Resolves when that has happened: `cancelled KEY` of `test_slow`, `refused KEY` of `test_ask`. */
  when(what: string): Promise<void>;
}

export interface Description {
  readonly world: World;
  /** MCP's own objects, as they are now. */
  list(kind: ListKind): readonly JsonObject[];
  readonly templates: readonly JsonObject[];
  readonly capabilities: JsonObject;
  readonly instructions: string;
}

export function createDescription(): Description;
