import { isObject, type JsonObject } from "../../core/json.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import { paramHeaders, type ParamHeader } from "../../wire/paramHeaders.ts";
import { decodeHeader, type Headers } from "../../wire/protocol.ts";
import { mismatch } from "./modern.ts";

/** For as long as somebody holds the definition. */
const known = new WeakMap<ToolDefinition, readonly ParamHeader[]>();
const none: readonly ParamHeader[] = [];
const decimal = /^-?\d+(\.\d+)?$/;

/**
 * The `Mcp-Param-*` headers that a tool's schema names must say what the arguments say (specification 2026-07-28,
 * Streamable HTTP, Server Behavior for Custom Headers). Throws `RpcError` `HeaderMismatch`.
 */
export function checkParamHeaders(tool: ToolDefinition, args: JsonObject, headers: Headers): void {
  for (const { header, path } of headersOf(tool)) {
    const sent = headers(header.toLowerCase());
    const value = valueAt(args, path);
    if (value === undefined || value === null) {
      if (sent !== undefined) throw mismatch(`the ${header} header stands for an argument that is not there`);
      continue;
    }
    if (sent === undefined) throw mismatch(`the ${header} header is missing`);
    const decoded = decodeHeader(sent);
    if (decoded === undefined)
      throw mismatch(`the ${header} header holds broken base64 or characters that must be encoded`);
    if (!says(decoded, value)) throw mismatch(`the ${header} header says another value than the arguments`);
  }
}

function headersOf(tool: ToolDefinition): readonly ParamHeader[] {
  let headers = known.get(tool);
  if (!headers) {
    const found = paramHeaders(tool.inputSchema);
    // Whoever breaks the rules for them has none.
    headers = typeof found === "string" ? none : found;
    known.set(tool, headers);
  }
  return headers;
}

function valueAt(args: JsonObject, path: readonly string[]): unknown {
  let value: unknown = args;
  for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** Numbers are compared as numbers (Server Validation), where both sides read the text as the same one. */
function says(header: string, value: unknown): boolean {
  if (Number.isSafeInteger(value) && decimal.test(header)) return Number(header) === value;
  return header === String(value);
}
