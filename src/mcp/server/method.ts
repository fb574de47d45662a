import type { Cancellation } from "../../core/cancellation.ts";
import type { ToolContext } from "../../core/context.ts";
import type { Log } from "../../core/effects.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Caller } from "../../core/operation.ts";
import type { ClientInfo } from "../../core/principal.ts";
import type { Exchange } from "../../wire/endpoint.ts";
import { RpcError, rpcErrors } from "../../wire/jsonrpc.ts";
import type { JsonRpcNotification, JsonRpcRequest } from "../../wire/jsonrpc.ts";
import type { Era } from "../../wire/protocol.ts";
import type { Dialect } from "./dialect.ts";

/** What every method of one shell shares. */
export interface Server {
  readonly caller: Caller;
  readonly serverInfo: ClientInfo;
  readonly instructions: string | undefined;
  readonly dialect: Dialect;
  readonly log: Log;
  /** Tools in one page of a list; undefined: all. */
  readonly pageSize: number | undefined;
  /** What every call's context starts from. */
  readonly context: ToolContext;
}

/** One request, as its method sees it. */
export interface MethodRequest {
  readonly era: Era;
  readonly message: JsonRpcRequest;
  readonly params: JsonObject;
  readonly meta: JsonObject;
  readonly exchange: Exchange;
  readonly cancellation: Cancellation;
  /** Sends a notification that belongs to this request; nothing goes out after its answer. */
  notify(notification: JsonRpcNotification): void;
}

/** Answers with the result's members in a fresh object, or throws `RpcError`. The shell adds what an era wants beside them. */
export type Method = (server: Server, request: MethodRequest) => JsonObject | Promise<JsonObject>;

export function invalidParams(message: string, options?: { data?: unknown; status?: number }): RpcError {
  return new RpcError(rpcErrors.invalidParams, message, options);
}
