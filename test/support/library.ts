import type { ToolContext } from "../../src/core/context.ts";
import { ToolError } from "../../src/core/errors.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { Operation } from "../../src/core/operation.ts";
import type {
  CompletionRequest,
  PromptProvider,
  ResourceProvider,
  Subscriber,
} from "../../src/core/provider.ts";
import type { InputRequired } from "../../src/core/result.ts";
import { FakeProvider } from "./providers.ts";

interface Holdings {
  readonly tools?: readonly string[];
  /** Definitions, or no more than their names, URIs and URI templates. */
  readonly prompts?: readonly (string | JsonObject)[];
  readonly resources?: readonly (string | JsonObject)[];
  readonly templates?: readonly (string | JsonObject)[];
  /** URIs that are there and on no list. */
  readonly there?: readonly string[];
}

/** A provider of resources and prompts as well, that keeps what was asked of it. */
export class FakeLibrary extends FakeProvider {
  holdings: Holdings;
  /** What lists of this kind reject with, while it is set. */
  readonly failures: { prompts?: Error; resources?: Error; templates?: Error } = {};
  /** `list prompts`, `read file:///a`, `get review`, ... in order. */
  readonly asked: string[] = [];
  readonly subscribers = new Map<Subscriber, string>();
  /** What reading and getting answer, where it is not the usual. */
  reply:
    | ((name: string, args: JsonObject, ctx: ToolContext) => Promise<JsonObject | InputRequired>)
    | undefined;
  readonly prompts: PromptProvider;
  readonly resources: ResourceProvider;

  constructor(namespace: string, holdings: Holdings = {}) {
    super(namespace, holdings.tools);
    this.holdings = holdings;
    this.prompts = {
      listPrompts: async () => this.#list("prompts", "name"),
      getPrompt: async (name, args, ctx) => {
        this.asked.push(`get ${name}`);
        if (!this.#names("prompts", "name").includes(name))
          throw new ToolError("NotFound", `no prompt ${name}`);
        return this.reply?.(name, args, ctx) ?? { description: `${namespace}:${name}`, messages: [args] };
      },
    };
    this.resources = {
      listResources: async () => this.#list("resources", "uri"),
      listResourceTemplates: async () => this.#list("templates", "uriTemplate"),
      readResource: async (uri, ctx) => {
        this.asked.push(`read ${uri}`);
        const all = [...this.#names("resources", "uri"), ...(this.holdings.there ?? [])];
        if (!all.includes(uri)) throw new ToolError("NotFound", `no resource ${uri}`);
        return this.reply?.(uri, {}, ctx) ?? { contents: [{ uri, text: `${namespace} has it` }] };
      },
      subscribe: async (uri, subscriber) => {
        this.asked.push(`subscribe ${uri}`);
        this.subscribers.set(subscriber, uri);
        subscriber.cancellation.onCancel(() => this.subscribers.delete(subscriber));
      },
    };
  }

  async complete({ ref, argument, context }: CompletionRequest): Promise<JsonObject> {
    const name = ref.type === "ref/prompt" ? ref.name : ref.uri;
    this.asked.push(`complete ${name}`);
    const values = [this.namespace, name, argument.name, argument.value, JSON.stringify(context ?? null)];
    return { completion: { values, total: values.length, hasMore: false } };
  }

  /** Tells who subscribed to it that a resource changed. */
  update(uri: string): void {
    for (const [subscriber, subscribed] of this.subscribers)
      if (subscribed === uri) subscriber.updated({ uri });
  }

  #list(kind: "prompts" | "resources" | "templates", member: string): readonly JsonObject[] {
    this.asked.push(`list ${kind}`);
    const failure = this.failures[kind];
    if (failure) throw failure;
    return (this.holdings[kind] ?? []).map((one) =>
      typeof one === "string" ? { [member]: one, name: one } : one,
    );
  }

  #names(kind: "prompts" | "resources", member: string): unknown[] {
    return (this.holdings[kind] ?? []).map((one) => (typeof one === "string" ? one : one[member]));
  }
}

export const getOf = (name: string, args: JsonObject = {}): Operation => ({
  kind: "prompts/get",
  name,
  arguments: args,
});

export const readOf = (uri: string): Operation => ({ kind: "resources/read", name: uri, arguments: {} });

export const subscribeOf = (uri: string, subscriber?: Subscriber): Operation => ({
  kind: "resources/subscribe",
  name: uri,
  arguments: {},
  subscriber,
});

/** Of the argument `a` of a prompt, or of a template where the name is a URI. */
export function completionRequest(name: string): CompletionRequest {
  const ref = name.includes(":")
    ? ({ type: "ref/resource", uri: name } as const)
    : ({ type: "ref/prompt", name } as const);
  return { ref, argument: { name: "a", value: "x" }, context: { arguments: { b: "y" } } };
}

export const completeOf = (name: string): Operation => ({
  kind: "completion/complete",
  name,
  arguments: { ...completionRequest(name) },
});
