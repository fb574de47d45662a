import { isObject, type JsonObject } from "../core/json.ts";
import type { JsonRpcNotification, JsonRpcRequest } from "./jsonrpc.ts";

/** Revisions that open a session with `initialize`, newest first. */
export const legacyVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
/** Revisions in which every request carries its own version and capabilities, newest first. */
export const modernVersions = ["2026-07-28"] as const;
export const supportedVersions: readonly string[] = [...modernVersions, ...legacyVersions];

export type Era = "legacy" | "modern";

/** MCP's own keys in `_meta`. */
export const metaKeys = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  progressToken: "progressToken",
} as const;

/** Reads one header, by its lower-case name. */
export type Headers = (name: string) => string | undefined;

/** `params._meta`, empty where there is none. */
export function metaOf(message: { params?: JsonObject }): JsonObject {
  const meta = message.params?.["_meta"];
  return isObject(meta) ? meta : {};
}

/**
 * A request is modern if its `_meta` names a protocol version, whichever; or the HTTP header names a modern
 * revision; or the method exists only there. All else belongs to a session that `initialize` opened.
 */
export function eraOf(message: JsonRpcRequest | JsonRpcNotification, headers?: Headers): Era {
  if (metaKeys.protocolVersion in metaOf(message)) return "modern";
  if (message.method === "server/discover" || message.method === "subscriptions/listen") return "modern";
  return isModernVersion(headers?.("mcp-protocol-version")) ? "modern" : "legacy";
}

/** True for the name of a modern revision, of one still to come too. Revisions are dates: a later one sorts after. */
export function isModernVersion(version: string | undefined): boolean {
  return version !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= modernVersions[0];
}

const mark = { start: "=?base64?", end: "?=" };

/**
 * A header value as it was meant (specification 2026-07-28, Streamable HTTP, Value Encoding). Undefined if it is
 * broken base64 or holds characters that a header may not carry plainly.
 */
export function decodeHeader(value: string): string | undefined {
  const isEncoded =
    value.length >= mark.start.length + mark.end.length &&
    value.startsWith(mark.start) &&
    value.endsWith(mark.end);
  if (!isEncoded) return /^[\x20-\x7e\t]*$/.test(value) ? value : undefined;
  const base64 = value.slice(mark.start.length, -mark.end.length);
  // `atob` forgives white space and missing padding. A proxy in front may not, and read another value.
  if (base64.length % 4 !== 0 || /[^A-Za-z0-9+/=]/.test(base64)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The counterpart of `decodeHeader`: plain where a header can carry it, base64 elsewhere. */
export function encodeHeader(value: string): string {
  const isPlain = value === "" || /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/.test(value);
  if (isPlain && !(value.startsWith(mark.start) && value.endsWith(mark.end))) return value;
  const binary = Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte)).join("");
  return mark.start + btoa(binary) + mark.end;
}
