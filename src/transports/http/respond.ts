import type { ServerResponse } from "node:http";
import { encode, RpcError, rpcErrors, type RequestId } from "../../wire/jsonrpc.ts";

export type ResponseHeaders = Readonly<Record<string, string>>;

/** One whole response of JSON text. */
export function sendJson(res: ServerResponse, status: number, text: string, headers?: ResponseHeaders): void {
  res.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(text),
    ...headers,
  });
  res.end(text);
}

export function sendText(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, { "Content-Type": "text/plain", "Content-Length": Buffer.byteLength(text) });
  res.end(text);
}

/** 204 must not state a length (RFC 9110, section 8.6); any other status without a body says that it has none. */
export function sendEmpty(res: ServerResponse, status: number, headers?: ResponseHeaders): void {
  res.writeHead(status, status === 204 ? { ...headers } : { "Content-Length": 0, ...headers });
  res.end();
}

export interface Refusal {
  readonly status: number;
  /** For a person: what happened and what to do next. */
  readonly message: string;
  readonly id?: RequestId;
  readonly code?: number;
  readonly headers?: ResponseHeaders;
}

/** Refuses before any endpoint has seen the message: an HTTP error with a JSON-RPC error as its body. */
export function refuse(res: ServerResponse, refusal: Refusal): void {
  const error = new RpcError(refusal.code ?? rpcErrors.invalidRequest, refusal.message);
  sendJson(res, refusal.status, encode(error.toResponse(refusal.id)), refusal.headers);
}

/**
 * True for an answer that has to wait for another one on its connection (RFC 9112, section 9.3.2). As a stream it would
 * not hear of the connection's end.
 */
export function isQueued(res: ServerResponse): boolean {
  return res.socket === null;
}

export const queuedStream: Refusal = {
  status: 400,
  message: "A stream wants its turn: ask for it when the connection has no other answer to give.",
};
