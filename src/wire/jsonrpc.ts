import { isObject, type JsonObject } from "../core/json.ts";

/** MCP forbids null and fractional ids (specification 2026-07-28, basic, Requests). */
export type RequestId = string | number;

export interface JsonRpcRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: string;
  params?: JsonObject;
}

export interface JsonRpcNotification {
  jsonrpc: "2.0";
  method: string;
  params?: JsonObject;
}

export interface JsonRpcErrorObject {
  code: number;
  message: string;
  data?: unknown;
}

export type JsonRpcResponse =
  | { jsonrpc: "2.0"; id: RequestId; result: JsonObject }
  | { jsonrpc: "2.0"; id?: RequestId | null; error: JsonRpcErrorObject };

export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse;

/**
 * Any text from a peer, told apart. `parse` never throws: what is wrong has a kind of its own. `length` is of a
 * long text, in UTF-16 units: what it takes while it is answered has to be bounded.
 */
export type Incoming =
  | { kind: "request"; message: JsonRpcRequest; length?: number }
  | { kind: "notification"; message: JsonRpcNotification }
  | { kind: "response"; message: JsonRpcResponse }
  | { kind: "batch"; messages: Incoming[]; length?: number }
  | Invalid;

export interface Invalid {
  kind: "invalid";
  /** `parse`: not JSON. `shape`: JSON, but no JSON-RPC message, or nested too deep. `size`: longer than `limit` bytes. */
  reason: "parse" | "shape" | "size";
  /** The id, where one could be read. */
  id?: RequestId;
  limit?: number;
}

export const rpcErrors = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Legacy only: a request before `initialize`. */
  notInitialized: -32002,
  /** Legacy only, the same number (specification 2025-11-25, server/resources, Error Handling). */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedProtocolVersion: -32022,
} as const;

/** Levels of arrays and objects in one message. Honest ones have a dozen. */
const maxDepth = 512;
/** Texts up to this have no length, in UTF-16 units. */
const maxShort = 64 * 1024;

/**
 * One text from a peer to a message. What is nested deeper than `maxDepth` is refused: it could be read, but
 * writing it on to another peer would exhaust the stack.
 */
export function parse(text: string): Incoming {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: "invalid", reason: "parse" };
  }
  // Every level takes two characters, so few messages are long enough to be looked through.
  if (text.length > 2 * maxDepth && isDeeper(value, maxDepth)) return shapeless(value);
  const incoming = classify(value);
  const isAsked = incoming.kind === "request" || incoming.kind === "batch";
  if (isAsked && text.length > maxShort) incoming.length = text.length;
  return incoming;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  const parts: unknown[] = Array.isArray(value) ? value : Object.values(value);
  return parts.some((part) => isDeeper(part, levels - 1));
}

/** Tells a parsed value apart. An empty batch is invalid (JSON-RPC 2.0, section 6). */
export function classify(value: unknown): Incoming {
  if (Array.isArray(value)) {
    if (value.length === 0) return { kind: "invalid", reason: "shape" };
    return { kind: "batch", messages: value.map(classifyOne) };
  }
  return classifyOne(value);
}

function classifyOne(value: unknown): Incoming {
  if (!isObject(value)) return shapeless(value);
  const { id, method, params } = value;
  if (value["jsonrpc"] === "2.0" && (params === undefined || isObject(params))) {
    if (typeof method === "string") {
      if (id === undefined && !("id" in value))
        return { kind: "notification", message: value as unknown as JsonRpcNotification };
      if (isRequestId(id)) return { kind: "request", message: value as unknown as JsonRpcRequest };
    } else if (method === undefined && isResponse(value)) {
      return { kind: "response", message: value as unknown as JsonRpcResponse };
    }
  }
  return shapeless(value);
}

function shapeless(value: unknown): Invalid {
  const id = isObject(value) ? value["id"] : undefined;
  return { kind: "invalid", reason: "shape", ...(isRequestId(id) && { id }) };
}

function isResponse(value: JsonObject): boolean {
  if ("result" in value) return isRequestId(value["id"]) && !("error" in value) && isObject(value["result"]);
  const error = value["error"];
  const id = value["id"];
  return (
    (id === undefined || id === null || isRequestId(id)) &&
    isObject(error) &&
    Number.isInteger(error["code"]) &&
    typeof error["message"] === "string"
  );
}

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/** The only encoder: whatever goes out to a peer, in either direction, becomes text here. */
export function encode(message: JsonRpcMessage): string {
  return JSON.stringify(message);
}

export const resultResponse = (id: RequestId, result: JsonObject): JsonRpcResponse => ({
  jsonrpc: "2.0",
  id,
  result,
});

/** A protocol error: thrown by a method, encoded as an error response. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;
  /** What HTTP answers with, where it is not 200. */
  readonly status: number;

  constructor(code: number, message: string, options: { data?: unknown; status?: number } = {}) {
    super(message);
    this.code = code;
    this.data = options.data;
    this.status = options.status ?? 200;
  }

  toResponse(id: RequestId | null | undefined): JsonRpcResponse {
    const error: JsonRpcErrorObject = { code: this.code, message: this.message };
    if (this.data !== undefined) error.data = this.data;
    return id === undefined ? { jsonrpc: "2.0", error } : { jsonrpc: "2.0", id, error };
  }
}
