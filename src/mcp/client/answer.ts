import type { InputRequest, ToolContext } from "../../core/context.ts";
import { ToolError } from "../../core/errors.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import { isInputRequired, type InputRequired } from "../../core/result.ts";
import { metaKeys } from "../../wire/protocol.ts";
import { named } from "./failure.ts";
import { isQuestionMethod } from "./questions.ts";

/** What was asked, for messages: who answered, and to what. */
export interface Question {
  readonly namespace: string;
  /** Such as `read` or `prompts/get greet`. */
  readonly what: string;
}

/**
 * A result by its `resultType` (specification 2026-07-28, basic, Responses): questions to the client, an extension's
 * own (`other`, unchanged, for a caller whose client declared any extension), or undefined for an answer. Throws
 * `ToolError` `ExecutionFailed` for questions that are none, `Unsupported` for any other type.
 */
export function unfinished(
  result: JsonObject,
  ctx: ToolContext,
  question: Question,
): InputRequired | "other" | undefined {
  const { resultType } = result;
  if (resultType === undefined || resultType === "complete") return undefined;
  if (resultType === "input_required") return toInputRequired(result, question);
  const { extensions } = ctx.clientCapabilities;
  if (isObject(extensions) && Object.keys(extensions).length > 0) return "other";
  throw unsupported(resultType, question);
}

/** A result type that cannot be served. */
export function unsupported(resultType: unknown, { namespace, what }: Question): ToolError {
  return new ToolError(
    "Unsupported",
    `${named(namespace)} answered ${what} with a result of type ${JSON.stringify(resultType)}, which this gateway does not support.`,
  );
}

/** The result of a prompt, a resource or a completion, without what is the protocol's own of one hop. */
export function completed(result: JsonObject): JsonObject {
  const { resultType: _, _meta, ...rest } = result;
  const meta = travelling(_meta);
  return meta ? { ...rest, _meta: meta } : rest;
}

/** `_meta` without the server's stamp: whoever passes a result on puts its own. */
export function travelling(meta: unknown): JsonObject | undefined {
  if (!isObject(meta) || !(metaKeys.serverInfo in meta)) return isObject(meta) ? meta : undefined;
  const { [metaKeys.serverInfo]: _, ...rest } = meta;
  return Object.keys(rest).length > 0 ? rest : undefined;
}

/**
 * The answer to `prompts/get` or `resources/read`. Throws `ToolError` `ExecutionFailed` for one without the array
 * that `member` names.
 */
export function toAnswer(
  result: JsonObject,
  ctx: ToolContext,
  { member, ...question }: Question & { member: "messages" | "contents" },
): JsonObject | InputRequired {
  const other = unfinished(result, ctx, question);
  if (other === "other") return result;
  if (other) return other;
  // A member `type` of the server's own must not make questions of it that nobody has checked.
  if (Array.isArray(result[member]) && !isInputRequired(result)) return completed(result);
  throw new ToolError(
    "ExecutionFailed",
    `${named(question.namespace)} answered ${question.what} with something that is no such result: it has no "${member}" array.`,
  );
}

/** Specification 2026-07-28, basic/patterns/mrtr, InputRequiredResult. */
function toInputRequired(result: JsonObject, { namespace, what }: Question): InputRequired {
  const { inputRequests, requestState, _meta } = result;
  const requests = inputRequests === undefined ? undefined : toInputRequests(inputRequests);
  const isState = requestState === undefined || typeof requestState === "string";
  if (requests === null || !isState || (requests === undefined && requestState === undefined))
    throw new ToolError(
      "ExecutionFailed",
      `${named(namespace)} answered ${what} with "input_required", but without questions that can be read and without a state.`,
    );
  const meta = travelling(_meta);
  return {
    type: "input_required",
    ...(requests && { inputRequests: requests }),
    ...(requestState !== undefined && { requestState }),
    ...(meta && { _meta: meta }),
  };
}

/** Null where one of them is no question to a client. */
function toInputRequests(value: unknown): Record<string, InputRequest> | null {
  if (!isObject(value)) return null;
  const requests: [string, InputRequest][] = [];
  for (const [key, request] of Object.entries(value)) {
    if (!isObject(request)) return null;
    const { method, params = {} } = request;
    if (!isQuestionMethod(method) || !isObject(params)) return null;
    requests.push([key, { method, params }]);
  }
  return Object.fromEntries(requests);
}
