import { isObject, type JsonObject } from "../../../core/json.ts";
import { toolErrorCodes } from "../../../core/errors.ts";
import type { Operation } from "../../../core/operation.ts";
import { isToolResult, ToolResult, type RawResult } from "../../../core/result.ts";
import type { Era } from "../../../wire/protocol.ts";
import { checkParamHeaders } from "../checkParamHeaders.ts";
import { contextOf } from "../context.ts";
import { invalidParams, type Method, type MethodRequest, type Server } from "../method.ts";
import { perform } from "../perform.ts";
import { toRpcError } from "../rpcError.ts";

/** `params` to an `Operation`, its `Outcome` to a result or a protocol error. */
export const toolsCall: Method = async (server, request) => {
  const { params, meta, era } = request;
  const { name, arguments: args = {} } = params;
  if (typeof name !== "string") throw invalidParams("tools/call: params.name must be a string");
  if (!isObject(args)) throw invalidParams("tools/call: params.arguments must be an object");
  const operation: Operation = { kind: "tools/call", name, arguments: args, meta };
  if (era === "modern" && request.exchange.headers) await checkHeaders(server, request, operation);
  const outcome = await perform(server, request, operation);
  if (outcome.type === "asked") return outcome.result;
  if (outcome.type === "result") return encodeResult(outcome.result, era);
  const { code, message } = outcome.error;
  const error =
    toolErrorCodes[code].as === "result" ? "result" : toRpcError(outcome.error, operation, server, era);
  if (error === "result") return encodeResult(ToolResult.error(message), era);
  throw error;
};

async function checkHeaders(server: Server, request: MethodRequest, operation: Operation): Promise<void> {
  const { exchange, cancellation } = request;
  const item = await server.caller.find(operation, contextOf(server, { request }, cancellation));
  if (item?.kind === "tool") checkParamHeaders(item.definition, operation.arguments, exchange.headers!);
}

/** `metadata` stays here; members that only an upstream knows go on as they came. */
function encodeResult(answer: ToolResult | RawResult, era: Era): JsonObject {
  if (!isToolResult(answer)) return { ...answer.value };
  const { content, structuredContent, isError, _meta, extra } = answer;
  const result: JsonObject = extra ? { ...extra, content } : { content };
  if (era === "modern" || isObject(structuredContent)) {
    if (structuredContent !== undefined) result["structuredContent"] = structuredContent;
  } else if (structuredContent !== undefined && content.length === 0) {
    // Before 2026-07-28 it is an object, and clients refuse a result in which it is not.
    result["content"] = ToolResult.structured(structuredContent).content;
  }
  if (isError) result["isError"] = true;
  if (_meta) result["_meta"] = _meta;
  return result;
}
