import type { InputRequest, ToolContext } from "../core/context.ts";
import { ToolError } from "../core/errors.ts";
import { isObject, type JsonObject } from "../core/json.ts";
import { joinName } from "../core/names.ts";
import type { Item, Next, ResolvedOperation } from "../core/operation.ts";
import type { CompletionRequest, ResourceProvider, ToolProvider } from "../core/provider.ts";
import {
  isInputRequired,
  ToolResult,
  type InputRequired,
  type OperationResult,
  type RawResult,
  type ToolOutput,
} from "../core/result.ts";
import { exposeTask } from "../core/tasks.ts";

/**
 * The end of the chain: the provider, under its own name for the item. What it asks of the client meanwhile goes by
 * `ask`, which is a chain of the same guards.
 */
export function executeWith(ask: Next): Next {
  return async (operation, outer) => {
    const { item, answers } = operation;
    if (!item) throw operation.failure ?? notFound(operation);
    if (outer.cancellation.cancelled) throw new ToolError("Cancelled", "It was cancelled before it ran.");
    if (answers && answers.canonicalName !== item.canonicalName) throw wrongAnswers(operation, item);
    const onAsk = (request: InputRequest): Promise<JsonObject> => {
      const answer = put(request, item, outer, ask);
      // A tool that does not wait for its answer must not bring the process down by a refusal.
      answer.catch(() => {});
      return answer;
    };
    // Without answers as well: where one tool calls another, the outer one's are not for it.
    return run(operation, item, outer.with({ onAsk, answers }));
  };
}

/** Who asked may be further on in the search. */
function wrongAnswers(operation: ResolvedOperation, { otherwise }: Item): ToolError {
  if (otherwise) return notFound(operation);
  return new ToolError(
    "InvalidArguments",
    `The answers belong to another request: ${operation.name} did not ask for them. Send it again without answers.`,
  );
}

/** The end of a question's chain: the client. */
export const askClient: Next = async ({ kind, arguments: params }, ctx) =>
  raw(await ctx.ask({ method: kind as InputRequest["method"], params }));

async function put(request: InputRequest, item: Item, ctx: ToolContext, ask: Next): Promise<JsonObject> {
  const { method, params } = request;
  const canonicalName = joinName(item.provider.namespace, method);
  const answer = await ask(
    { kind: method, name: method, arguments: params, meta: {}, canonicalName, item },
    ctx,
  );
  if ("type" in answer && answer.type === "raw") return answer.value;
  throw new ToolError(
    "ExecutionFailed",
    `A guard answered ${method} with something that is no answer to it.`,
  );
}

async function run(operation: ResolvedOperation, item: Item, ctx: ToolContext): Promise<OperationResult> {
  const { provider, name } = item;
  const args = operation.arguments;
  switch (operation.kind) {
    case "tools/call":
      return named(normalise(await provider.callTool(name, args, ctx), operation), provider);
    case "prompts/get":
      if (!provider.prompts) throw notFound(operation);
      return rawOrAsked(await provider.prompts.getPrompt(name, args, ctx));
    case "resources/read":
      // A template is what owns the URI; what is read is the URI.
      return rawOrAsked(await resourcesOf(operation, item).readResource(operation.name, ctx));
    case "resources/subscribe":
      return subscribe(operation, resourcesOf(operation, item), ctx);
    case "completion/complete":
      return complete(operation, item, ctx);
    case "tasks/get":
    case "tasks/update":
    case "tasks/cancel":
      if (!provider.tasks) throw notFound(operation);
      return named(
        raw(await provider.tasks.request(operation.kind, { ...args, taskId: name }, ctx)),
        provider,
      );
    default:
      throw new ToolError("Unsupported", `${operation.kind} is asked of a client, not of a provider.`);
  }
}

function resourcesOf(operation: ResolvedOperation, { provider }: Item): ResourceProvider {
  if (!provider.resources) throw notFound(operation);
  return provider.resources;
}

async function subscribe(
  operation: ResolvedOperation,
  resources: ResourceProvider,
  ctx: ToolContext,
): Promise<RawResult> {
  const { subscriber, name } = operation;
  if (!resources.subscribe || !subscriber) throw tellsNoChanges(name);
  await resources.subscribe(name, subscriber, ctx);
  return raw({});
}

async function complete(operation: ResolvedOperation, item: Item, ctx: ToolContext): Promise<RawResult> {
  const request = operation.arguments as unknown as CompletionRequest;
  const { provider, name } = item;
  if (!provider.complete) throw completesNothing(provider);
  return raw(await provider.complete(renamed(request, name), ctx));
}

/** The same request with another name, or URI template, in its `ref`. */
export function renamed(request: CompletionRequest, name: string): CompletionRequest {
  const { ref } = request;
  return { ...request, ref: ref.type === "ref/prompt" ? { ...ref, name } : { ...ref, uri: name } };
}

function raw(value: JsonObject): RawResult {
  return { type: "raw", value };
}

/** Where the answer is of a task, its id is made the one that callers know. */
function named(result: OperationResult, { namespace }: ToolProvider): OperationResult {
  const isRaw = "type" in result && result.type === "raw";
  return isRaw ? raw(exposeTask(result.value, namespace)) : result;
}

function rawOrAsked(value: JsonObject | InputRequired): RawResult | InputRequired {
  return isInputRequired(value) ? value : raw(value);
}

function normalise(output: ToolOutput, { name }: ResolvedOperation): OperationResult {
  if (typeof output === "string") return ToolResult.success(output);
  if (isObject(output)) {
    if (output["type"] === "input_required") return output;
    if (output["type"] === "raw" && isObject(output["value"])) return output;
    if (Array.isArray(output["content"]) && output["content"].every(isObject)) return output;
  }
  throw new ToolError(
    "InvalidOutput",
    `${name} answered neither a string nor a result with an array of content blocks. ` +
      "A tool returns a string, ToolResult.success(...) or ToolResult.structured(...).",
  );
}

/** By the operation's own word for what is missing. */
export function notFound({ kind, name }: { kind: string; name: string }): ToolError {
  if (kind.startsWith("resources/")) return new ToolError("NotFound", `Resource not found: ${name}`);
  if (kind === "prompts/get") return new ToolError("NotFound", `Unknown prompt: ${name}`);
  if (kind.startsWith("tasks/")) return new ToolError("NotFound", `Unknown task: ${name}`);
  if (kind === "completion/complete")
    return new ToolError("NotFound", `Unknown prompt or resource template: ${name}`);
  return ToolError.notFound(name);
}

export function tellsNoChanges(uri: string): ToolError {
  return new ToolError("Unsupported", `Changes of ${uri} are not told by whoever serves it.`);
}

export function completesNothing({ namespace }: { namespace: string }): ToolError {
  return new ToolError("Unsupported", `${namespace} completes no arguments.`);
}
