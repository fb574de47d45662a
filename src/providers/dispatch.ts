import type { ToolContext } from "../core/context.ts";
import { ToolError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { Item, ItemKind, Operation, Resolver } from "../core/operation.ts";
import type { CompletionRequest, PromptProvider, ResourceProvider, TaskProvider } from "../core/provider.ts";
import { exposeTask } from "../core/tasks.ts";
import { completesNothing, notFound, renamed, tellsNoChanges } from "../runtime/execute.ts";

// What a resolver knows, as members of a provider: each call goes to whose item it is, under that one's own name.

/** Does it with the item, or with the next one where a provider that cannot list says `NotFound`. */
export async function dispatch<T>(
  resolver: Resolver,
  operation: Operation,
  run: (item: Item) => Promise<T>,
): Promise<T> {
  for (let item = await resolver.resolve(operation); item; item = item.otherwise) {
    try {
      return await run(item);
    } catch (error) {
      if (!(error instanceof ToolError && error.code === "NotFound")) throw error;
    }
  }
  throw notFound(operation);
}

// What an item was resolved to has it: `prompts` and `resources` are there.

export function promptsBy(resolver: Resolver): PromptProvider {
  return {
    listPrompts: () => definitions(resolver, "prompt"),
    getPrompt: (name, args, ctx) =>
      dispatch(resolver, { kind: "prompts/get", name, arguments: args }, ({ provider, name: own }) =>
        provider.prompts!.getPrompt(own, args, ctx),
      ),
  };
}

export function resourcesBy(resolver: Resolver): ResourceProvider {
  return {
    listResources: () => definitions(resolver, "resource"),
    listResourceTemplates: () => definitions(resolver, "resourceTemplate"),
    readResource: (uri, ctx) =>
      dispatch(resolver, { kind: "resources/read", name: uri, arguments: {} }, ({ provider }) =>
        provider.resources!.readResource(uri, ctx),
      ),
    subscribe: (uri, subscriber, ctx) =>
      dispatch(
        resolver,
        { kind: "resources/subscribe", name: uri, arguments: {}, subscriber },
        async ({ provider: { resources } }) => {
          if (!resources?.subscribe) throw tellsNoChanges(uri);
          return resources.subscribe(uri, subscriber, ctx);
        },
      ),
  };
}

export function tasksBy(resolver: Resolver): TaskProvider {
  return {
    request: (kind, params, ctx) =>
      dispatch(
        resolver,
        { kind, name: String(params["taskId"]), arguments: params },
        async ({ provider, name }) =>
          exposeTask(
            await provider.tasks!.request(kind, { ...params, taskId: name }, ctx),
            provider.namespace,
          ),
      ),
  };
}

export function completeBy(
  resolver: Resolver,
  request: CompletionRequest,
  ctx: ToolContext,
): Promise<JsonObject> {
  const { ref } = request;
  const name = ref.type === "ref/prompt" ? ref.name : ref.uri;
  const operation: Operation = { kind: "completion/complete", name, arguments: { ...request } };
  return dispatch(resolver, operation, async ({ provider, name: own }) => {
    if (!provider.complete) throw completesNothing(provider);
    return provider.complete(renamed(request, own), ctx);
  });
}

async function definitions(resolver: Resolver, kind: ItemKind): Promise<readonly JsonObject[]> {
  return (await resolver.items(kind)).map(({ definition }) => definition);
}
