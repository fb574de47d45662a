import type { Cancellation } from "../../core/cancellation.ts";
import type { ToolContext } from "../../core/context.ts";
import type { Clock, Log } from "../../core/effects.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Caller } from "../../core/operation.ts";
import type { ClientInfo } from "../../core/principal.ts";
import type { Exchange } from "../../wire/endpoint.ts";
import { RpcError, rpcErrors } from "../../wire/jsonrpc.ts";
import type { JsonRpcNotification, JsonRpcRequest } from "../../wire/jsonrpc.ts";
import type { Era } from "../../wire/protocol.ts";
import type { Allowance } from "./allowance.ts";
import type { Changes } from "./changes.ts";
import type { Dialect } from "./dialect.ts";
import type { Parking } from "./parking.ts";
import type { Seal } from "./seal.ts";

/** What every method of one shell shares. */
export interface Server {
  readonly caller: Caller;
  readonly serverInfo: ClientInfo;
  readonly instructions: string | undefined;
  readonly dialect: Dialect;
  readonly log: Log;
  readonly clock: Clock;
  /** Entries in one page of a list; undefined: all. */
  readonly pageSize: number | undefined;
  /** How long a client may take to answer a question, in milliseconds. */
  readonly answerMs: number;
  /** What every call's context starts from. */
  readonly context: ToolContext;
  readonly seal: Seal;
  readonly parking: Parking;
  readonly changes: Changes;
  /** Streams of notifications that are open. */
  readonly streams: Allowance;
  /** Resources whose changes are told, on streams and in sessions. */
  readonly subscriptions: Allowance;
  /** What says which they are, in UTF-16 units. */
  readonly subscribed: Allowance;
  /** Cancelled when the server stops. */
  readonly ending: Cancellation;
}

/** One request, as its method sees it. */
export interface MethodRequest {
  readonly era: Era;
  readonly message: JsonRpcRequest;
  readonly params: JsonObject;
  readonly meta: JsonObject;
  /** What the client declared: with this request, or when it opened its session. */
  readonly clientCapabilities: JsonObject;
  readonly exchange: Exchange;
  readonly cancellation: Cancellation;
  /** Sends a notification that belongs to this request; false where it cannot be sent. Nothing goes out after its answer. */
  notify(notification: JsonRpcNotification): boolean;
}

/** Answers with the result's members in a fresh object, or throws `RpcError`. The shell adds what an era wants beside them. */
export type Method = (server: Server, request: MethodRequest) => JsonObject | Promise<JsonObject>;

/** More than a bound allows of what one principal may hold here. */
export function tooMany(message: string): RpcError {
  return new RpcError(rpcErrors.internalError, message, { status: 429 });
}

export function invalidParams(message: string, options?: { data?: unknown; status?: number }): RpcError {
  return new RpcError(rpcErrors.invalidParams, message, options);
}
