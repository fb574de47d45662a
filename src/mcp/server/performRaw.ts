import type { JsonObject } from "../../core/json.ts";
import type { Operation } from "../../core/operation.ts";
import { isToolResult } from "../../core/result.ts";
import { RpcError, rpcErrors } from "../../wire/jsonrpc.ts";
import type { MethodRequest, Server } from "./method.ts";
import { perform } from "./perform.ts";
import { toRpcError } from "./rpcError.ts";

/** An operation whose result is MCP's own object: anything but a tool call. Throws `RpcError`. */
export async function performRaw(
  server: Server,
  request: MethodRequest,
  operation: Operation,
): Promise<JsonObject> {
  const outcome = await perform(server, request, { ...operation, meta: request.meta });
  if (outcome.type === "asked") return outcome.result;
  if (outcome.type === "result" && !isToolResult(outcome.result)) return { ...outcome.result.value };
  const error =
    outcome.type === "error" ? toRpcError(outcome.error, operation, server, request.era) : "result";
  throw error === "result" ? new RpcError(rpcErrors.internalError, "Internal error", { status: 500 }) : error;
}
