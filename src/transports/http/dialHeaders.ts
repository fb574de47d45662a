import type { JsonRpcMessage } from "../../wire/jsonrpc.ts";
import type { SendOptions } from "../../wire/link.ts";
import { encodeHeader, metaKeys, metaOf } from "../../wire/protocol.ts";

export type HeaderMap = Readonly<Record<string, string>>;

/** What a legacy server has told of its session. */
export interface SessionHeaders {
  readonly id?: string | undefined;
  readonly protocolVersion?: string | undefined;
}

/** The methods whose `Mcp-Name` header repeats a parameter, and which. */
const named: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  // The tasks extension, Streamable HTTP: Routing Headers.
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** The revision that the message itself names: only modern ones do. */
export function modernVersionOf(message: JsonRpcMessage): string | undefined {
  if (!("method" in message)) return undefined;
  const version = metaOf(message)[metaKeys.protocolVersion];
  return typeof version === "string" ? version : undefined;
}

/** Headers of one POST (specification 2026-07-28, Streamable HTTP, Request Metadata; 2025-11-25, transports). Names are lower-case. */
export function postHeaders(
  message: JsonRpcMessage,
  session: SessionHeaders,
  extra?: SendOptions["headers"],
): HeaderMap {
  const fixed = {
    ...(extra && lowerCase(extra)),
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
  };
  const version = modernVersionOf(message);
  if (version === undefined || !("method" in message)) return { ...fixed, ...sessionHeaders(session) };
  const parameter = named[message.method];
  const name = parameter === undefined ? undefined : message.params?.[parameter];
  return {
    ...fixed,
    "mcp-protocol-version": version,
    "mcp-method": message.method,
    ...(typeof name === "string" && { "mcp-name": encodeHeader(name) }),
  };
}

/** Headers that place a request in a legacy session. */
export function sessionHeaders(session: SessionHeaders): HeaderMap {
  return {
    ...(session.protocolVersion !== undefined && { "mcp-protocol-version": session.protocolVersion }),
    ...(session.id !== undefined && { "mcp-session-id": session.id }),
  };
}

export function lowerCase(headers: HeaderMap): HeaderMap {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
