import type { ToolContext } from "../core/context.ts";
import type { Log } from "../core/effects.ts";
import type { JsonObject } from "../core/json.ts";
import { exposedName, isNamespace, splitName } from "../core/names.ts";
import type { Item, ItemKind, Operation, Resolver } from "../core/operation.ts";
import type {
  CompletionRequest,
  ListKind,
  PromptProvider,
  ProviderInfo,
  ResourceProvider,
  TaskProvider,
  ToolFacts,
  ToolProvider,
} from "../core/provider.ts";
import type { ToolOutput } from "../core/result.ts";
import { exposeTask } from "../core/tasks.ts";
import type { ToolDefinition } from "../core/tool.ts";
import { completeBy, dispatch, promptsBy, resourcesBy, tasksBy } from "./dispatch.ts";
import { combine, infoOf } from "./info.ts";
import { Merged } from "./merged.ts";
import { kinds, Mount } from "./mount.ts";
import { unlistedOwner } from "./resourceOwner.ts";
import { listOf, type Catalogue } from "./shelf.ts";

/**
 * Many providers behind one list. A tool or prompt `read` of the provider `fs` is `fs__read` here; a name that clients
 * would refuse is made safe (see `exposedName`). A name never depends on who else is mounted. A URI is the first
 * provider's that lists it, else the first one's that has a template for it.
 */
export class CompositeToolProvider implements ToolProvider, Resolver {
  readonly namespace: string;
  readonly resources: ResourceProvider;
  readonly prompts: PromptProvider;
  readonly tasks: TaskProvider;
  readonly #log: Log;
  readonly #mounts = new Map<string, Mount>();
  readonly #listeners = new Set<(kind: ListKind) => void>();
  readonly #merged: Readonly<Record<ItemKind, Merged>>;

  constructor(options: { namespace?: string; log?: Log } = {}) {
    this.namespace = options.namespace ?? "toolgate";
    this.#log = options.log ?? (() => {});
    const merged = (kind: ItemKind): Merged => new Merged(kind, this.#mounts, this.#log);
    this.#merged = {
      tool: merged("tool"),
      prompt: merged("prompt"),
      resource: merged("resource"),
      resourceTemplate: merged("resourceTemplate"),
    };
    this.prompts = promptsBy(this);
    this.tasks = tasksBy(this);
    this.resources = resourcesBy(this);
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
    for (const kind of ["tools", "prompts", "resources"] as const) this.#changed(kind);
    return this;
  }

  /** All of a kind, in the order of mounting and then of each provider. What cannot list now is left out, and asked again next time. */
  async items(kind: ItemKind): Promise<readonly Item[]> {
    this.touch(listOf[kind]);
    return [...(await this.#merged[kind].build()).values()];
  }

  resolve(operation: Operation): Item | undefined | Promise<Item | undefined> {
    const { kind, name } = operation;
    switch (kind) {
      case "tools/call":
        return this.#named("tool", name);
      case "prompts/get":
        return this.#named("prompt", name);
      case "resources/read":
      case "resources/subscribe":
        return this.#merged.resource.known(name) ?? this.#owner(name);
      case "completion/complete":
        return this.#completed(operation);
      case "tasks/get":
      case "tasks/update":
      case "tasks/cancel":
        return this.#mounts.get(splitName(name)?.namespace ?? "")?.task(name);
      default:
        return undefined;
    }
  }

  async listTools(): Promise<readonly ToolDefinition[]> {
    return (await this.items("tool")).flatMap((item) => (item.kind === "tool" ? [item.definition] : []));
  }

  callTool(name: string, args: JsonObject, ctx: ToolContext): Promise<ToolOutput> {
    return dispatch(this, { kind: "tools/call", name, arguments: args }, async ({ provider, name: own }) => {
      const output = await provider.callTool(own, args, ctx);
      const isRaw = typeof output === "object" && "type" in output && output.type === "raw";
      return isRaw ? { ...output, value: exposeTask(output.value, provider.namespace) } : output;
    });
  }

  complete(request: CompletionRequest, ctx: ToolContext): Promise<JsonObject> {
    return completeBy(this, request, ctx);
  }

  facts(name: string): ToolFacts | undefined {
    return this.#merged.tool.last.get(name)?.facts;
  }

  async info(): Promise<ProviderInfo> {
    const mounts = [...this.#mounts.values()];
    return combine(
      await Promise.all(
        mounts.map(async ({ provider }) => ({
          namespace: provider.namespace,
          info: await infoOf(provider),
        })),
      ),
    );
  }

  touch(kind: ListKind): void {
    for (const { provider } of this.#mounts.values()) provider.touch?.(kind);
  }

  watch(listener: (kind: ListKind) => void): () => void {
    const own = (kind: ListKind): void => listener(kind);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  async close(): Promise<void> {
    const closing = [...this.#mounts.values()].map(async ({ provider }) => provider.close?.());
    const failure = (await Promise.allSettled(closing)).find((end) => end.status === "rejected");
    if (failure) throw failure.reason;
  }

  #changed(list: ListKind): void {
    for (const kind of kinds) if (listOf[kind] === list) this.#merged[kind].changed();
    for (const listener of this.#listeners) listener(list);
  }

  #named(kind: "tool" | "prompt", name: string): Item | undefined | Promise<Item | undefined> {
    const merged = this.#merged[kind];
    const known = merged.known(name);
    if (known) return known;
    // A name of the full length may be a cut one, without its namespace: only the whole list knows it.
    if (name.length === 64) return merged.build().then((index) => index.get(name) ?? this.#find(kind, name));
    return this.#find(kind, name);
  }

  #find(kind: "tool" | "prompt", name: string): Item | undefined | Promise<Item | undefined> {
    const split = splitName(name);
    if (!split) return this.#search(kind, name, [...this.#mounts.values()]);
    const mount = this.#mounts.get(split.namespace);
    if (!mount) return undefined;
    const catalogue = mount.shelves[kind].catalogue();
    const find = (from: Catalogue): Item | undefined =>
      mount.find(kind, from, { own: split.tool, exposed: name });
    return catalogue instanceof Promise ? catalogue.then(find) : find(catalogue);
  }

  /**
   * A name without a namespace belongs to the first catalogue that has it. Nothing is called to find out,
   * except where a provider cannot list: then the search goes on, at call time, if that one says `NotFound`.
   */
  async #search(kind: "tool" | "prompt", name: string, mounts: readonly Mount[]): Promise<Item | undefined> {
    for (const [at, mount] of mounts.entries()) {
      const catalogue = await mount.shelves[kind].ifKnown();
      const item = catalogue && mount.find(kind, catalogue, { own: name, exposed: name });
      if (!item) continue;
      if (!catalogue.unlisted) return item;
      const otherwise = await this.#search(kind, name, mounts.slice(at + 1));
      return otherwise ? { ...item, otherwise } : item;
    }
    return undefined;
  }

  async #owner(uri: string): Promise<Item | undefined> {
    const listed = (await this.#merged.resource.build()).get(uri);
    return listed ?? unlistedOwner(uri, [...this.#mounts.values()]);
  }

  async #completed(operation: Operation): Promise<Item | undefined> {
    const { ref } = operation.arguments as unknown as CompletionRequest;
    if (ref.type === "ref/prompt") return this.#named("prompt", operation.name);
    const template = (await this.#merged.resourceTemplate.build()).get(operation.name);
    return template ?? (await this.#merged.resource.build()).get(operation.name);
  }
}
