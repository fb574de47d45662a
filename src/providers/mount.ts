import type { Log } from "../core/effects.ts";
import { splitName } from "../core/names.ts";
import type { Item, ItemKind, Operation, Resolver } from "../core/operation.ts";
import type { CompletionRequest, ListKind, ProviderInfo, ToolProvider } from "../core/provider.ts";
import { infoOf } from "./info.ts";
import { listOf, Shelf, type Catalogue, type Expose } from "./shelf.ts";
import { firstMatching } from "./uriTemplate.ts";

export interface MountOptions {
  readonly log: Log;
  readonly expose?: Expose;
}

/**
 * One provider where callers see it: names are exposed going up and given back going down. By itself it serves a
 * single provider under its own names, with everything that it has.
 */
export class Mount implements Resolver {
  readonly provider: ToolProvider;
  readonly shelves: Readonly<Record<ItemKind, Shelf>>;

  constructor(provider: ToolProvider, { log, expose = ({ own }) => own }: MountOptions) {
    this.provider = provider;
    const shelf = (kind: ItemKind): Shelf => new Shelf({ provider, kind, log, expose });
    this.shelves = {
      tool: shelf("tool"),
      prompt: shelf("prompt"),
      resource: shelf("resource"),
      resourceTemplate: shelf("resourceTemplate"),
    };
    provider.watch?.((list) => {
      for (const kind of kinds) if (listOf[kind] === list) this.shelves[kind].changed();
    });
  }

  async items(kind: ItemKind): Promise<readonly Item[]> {
    this.provider.touch?.(listOf[kind]);
    return (await this.shelves[kind].ifKnown())?.items ?? [];
  }

  async resolve(operation: Operation): Promise<Item | undefined> {
    const { kind, name } = operation;
    switch (kind) {
      case "tools/call":
      case "prompts/get": {
        const shelf = kind === "tools/call" ? "tool" : "prompt";
        return this.find(shelf, await this.shelves[shelf].catalogue(), { own: name, exposed: name });
      }
      case "resources/read":
      case "resources/subscribe":
        // There is nobody else whose it could be: what is on no list may be there nevertheless.
        return (await this.owner(name)) ?? this.unlistedResource(name);
      case "completion/complete":
        return this.completed(operation);
      case "tasks/get":
      case "tasks/update":
      case "tasks/cancel":
        return this.task(name);
      default:
        return undefined;
    }
  }

  find(kind: ItemKind, catalogue: Catalogue, name: { own: string; exposed: string }): Item | undefined {
    return (
      catalogue.byOwnName.get(name.own) ??
      catalogue.byExposedName.get(name.exposed) ??
      (catalogue.unlisted ? this.shelves[kind].unlisted(name.own) : undefined)
    );
  }

  /** The resource of that URI, else the first template that it can have come of. */
  async owner(uri: string): Promise<Item | undefined> {
    if (!this.provider.resources) return undefined;
    const listed = (await this.shelves.resource.ifKnown())?.byOwnName.get(uri);
    return listed ?? (await this.template(uri));
  }

  async template(uri: string): Promise<Item | undefined> {
    const templates = (await this.shelves.resourceTemplate.ifKnown())?.items ?? [];
    return firstMatching(templates, uri);
  }

  /** Whose argument is completed: a prompt, a template, or (as clients do) a plain resource. */
  async completed(operation: Operation): Promise<Item | undefined> {
    const { ref } = operation.arguments as unknown as CompletionRequest;
    const kind = ref.type === "ref/prompt" ? "prompt" : "resourceTemplate";
    const { name } = operation;
    const found = this.find(kind, await this.shelves[kind].catalogue(), { own: name, exposed: name });
    if (found || kind === "prompt") return found;
    return (await this.shelves.resource.ifKnown())?.byOwnName.get(name);
  }

  unlistedResource(uri: string): Item | undefined {
    return this.provider.resources && this.shelves.resource.unlisted(uri);
  }

  /** Its id has the namespace before it, wherever it is seen. */
  task(id: string): Item | undefined {
    const { provider } = this;
    const split = splitName(id);
    if (!provider.tasks || split?.namespace !== provider.namespace) return undefined;
    const definition = { taskId: id };
    return { kind: "task", provider, name: split.tool, canonicalName: id, definition, facts: {} };
  }

  watch(listener: (kind: ListKind) => void): () => void {
    return this.provider.watch?.(listener) ?? (() => {});
  }

  info(): Promise<ProviderInfo> {
    return infoOf(this.provider);
  }
}

export const kinds: readonly ItemKind[] = ["tool", "prompt", "resource", "resourceTemplate"];
