import type { ToolError } from "../../../core/errors.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { ToolResult } from "../../../core/result.ts";
import { RpcError, rpcErrors } from "../../../wire/jsonrpc.ts";
import type { Era } from "../../../wire/protocol.ts";
import { contextOf } from "../context.ts";
import { invalidParams, type Method, type Server } from "../method.ts";

/** `params` to an `Operation`, its `Outcome` to a result or a protocol error. */
export const toolsCall: Method = async (server, request) => {
  const { name, arguments: args = {} } = request.params;
  if (typeof name !== "string") throw invalidParams("tools/call: params.name must be a string");
  if (!isObject(args)) throw invalidParams("tools/call: params.arguments must be an object");
  const operation = { kind: "tools/call", name, arguments: args, meta: request.meta } as const;
  const outcome = await server.caller.call(operation, contextOf(server, request));
  if (outcome.type === "result") return encodeResult(outcome.result, request.era);
  const error = toRpcError(outcome.error, name, server, request.era);
  if (error === "result") return encodeResult(ToolResult.error(outcome.error.message), request.era);
  throw error;
};

/** `metadata` stays here; members that only an upstream knows go on as they came. */
function encodeResult(answer: ToolResult, era: Era): JsonObject {
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

function toRpcError(error: ToolError, name: string, server: Server, era: Era): RpcError | "result" {
  switch (error.code) {
    case "NotFound":
      return server.dialect.unknownTool(name);
    case "TooManyRequests":
      return new RpcError(rpcErrors.internalError, error.message, { status: 429 });
    case "UpstreamError":
      return upstreamError(error, era);
    default:
      return new RpcError(rpcErrors.internalError, error.message);
  }
}

/** An upstream's own error keeps its code and data, except codes that its client's revision gives another meaning or none. */
function upstreamError(error: ToolError, era: Era): RpcError {
  const theirs = isObject(error.data) ? error.data["error"] : undefined;
  const { code, data } = isObject(theirs) ? theirs : {};
  const isOurs =
    typeof code !== "number" || !Number.isInteger(code) || (era === "modern" && isForbidden(code));
  return new RpcError(isOurs ? rpcErrors.internalError : code, error.message, { data });
}

/** Specification 2026-07-28, basic, Error Codes: retired codes, and those that only the protocol itself may give. */
function isForbidden(code: number): boolean {
  return code === -32002 || code === -32042 || (code <= -32020 && code >= -32099);
}
