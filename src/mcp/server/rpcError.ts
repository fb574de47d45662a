import type { ToolError } from "../../core/errors.ts";
import { isObject } from "../../core/json.ts";
import type { Operation } from "../../core/operation.ts";
import { RpcError, rpcErrors } from "../../wire/jsonrpc.ts";
import type { Era } from "../../wire/protocol.ts";
import type { Server } from "./method.ts";

/** A failed operation as its client's revision says it; `result` where a dialect has a result with `isError` instead. */
export function toRpcError(
  error: ToolError,
  operation: Operation,
  server: Server,
  era: Era,
): RpcError | "result" {
  switch (error.code) {
    case "NotFound":
      return notFound(error, operation, server, era);
    case "InvalidArguments":
      return new RpcError(rpcErrors.invalidParams, error.message);
    case "TooManyRequests":
      return new RpcError(rpcErrors.internalError, error.message, { status: 429 });
    case "MissingClientCapability":
      return missingCapability(error, era);
    case "UpstreamError":
      return upstreamError(error, era);
    default:
      return new RpcError(rpcErrors.internalError, error.message);
  }
}

function notFound(
  error: ToolError,
  { kind, name }: Operation,
  server: Server,
  era: Era,
): RpcError | "result" {
  if (kind === "tools/call") return server.dialect.unknownTool(name);
  if (!kind.startsWith("resources/")) return new RpcError(rpcErrors.invalidParams, error.message);
  const code = era === "modern" ? rpcErrors.invalidParams : rpcErrors.resourceNotFound;
  return new RpcError(code, error.message, { data: { uri: name } });
}

/** Only the modern era has a code for it (specification 2026-07-28, basic, `_meta`). */
function missingCapability({ message, data }: Pick<ToolError, "message" | "data">, era: Era): RpcError {
  if (era === "legacy") return new RpcError(rpcErrors.internalError, message, { data });
  return new RpcError(rpcErrors.missingClientCapability, message, { data, status: 400 });
}

/** An upstream's own error keeps its code and data, except codes that its client's revision gives another meaning or none. */
function upstreamError(error: ToolError, era: Era): RpcError {
  const theirs = isObject(error.data) ? error.data["error"] : undefined;
  const { code, data } = isObject(theirs) ? theirs : {};
  if (code === rpcErrors.missingClientCapability)
    return missingCapability({ message: error.message, data }, era);
  const isOurs =
    typeof code !== "number" || !Number.isInteger(code) || (era === "modern" && isForbidden(code));
  return new RpcError(isOurs ? rpcErrors.internalError : code, error.message, { data });
}

/** Specification 2026-07-28, basic, Error Codes: retired codes, and those that only the protocol itself may give. */
function isForbidden(code: number): boolean {
  return code === -32002 || code === -32042 || (code <= -32020 && code >= -32099);
}
