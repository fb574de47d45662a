import { isObject, type JsonObject } from "../core/json.ts";
import { encodeHeader } from "./protocol.ts";

/** A parameter that a server wants repeated in an HTTP header. */
export interface ParamHeader {
  /** The header, `Mcp-Param-` included. */
  readonly header: string;
  /** Property names from the root of the arguments. */
  readonly path: readonly string[];
}

const keyword = "x-mcp-header";
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const primitives = ["string", "integer", "boolean"];
/** Their values are data, not schemas. */
const dataKeywords = new Set(["const", "default", "enum", "examples"]);
/** Their values are schemas by name. */
const namedKeywords = new Set(["$defs", "definitions", "dependentSchemas", "patternProperties"]);
/** Deeper schemas are not searched. */
const maxDepth = 64;

/** Why a tool breaks the rules. */
class Broken extends Error {}

/**
 * The parameters that `x-mcp-header` marks in an input schema, or why they break the rules (specification
 * 2026-07-28, Streamable HTTP, Custom Headers from Tool Parameters).
 */
export function paramHeaders(inputSchema: JsonObject): readonly ParamHeader[] | string {
  const found = new Map<string, ParamHeader>();
  try {
    search(inputSchema, [], found, 0);
    return [...found.values()];
  } catch (error) {
    if (error instanceof Broken) return error.message;
    throw error;
  }
}

/** The headers for one call. Arguments that are absent, null or of another type have none. */
export function paramHeaderValues(headers: readonly ParamHeader[], args: JsonObject): Record<string, string> {
  const values: Record<string, string> = {};
  for (const { header, path } of headers) {
    let value: unknown = args;
    for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    if (typeof value === "string" || typeof value === "boolean" || Number.isSafeInteger(value))
      values[header] = encodeHeader(String(value));
  }
  return values;
}

/** `path` is undefined where arguments cannot be reached by property names alone. */
function search(
  schema: unknown,
  path: readonly string[] | undefined,
  found: Map<string, ParamHeader>,
  depth: number,
): void {
  if (depth > maxDepth) return;
  if (Array.isArray(schema)) {
    for (const one of schema) search(one, undefined, found, depth + 1);
    return;
  }
  if (!isObject(schema)) return;
  if (keyword in schema) mark(schema, path, found);
  for (const [key, value] of Object.entries(schema)) {
    if (dataKeywords.has(key)) continue;
    const byName = key === "properties" || namedKeywords.has(key);
    if (!byName || !isObject(value)) search(value, undefined, found, depth + 1);
    else
      for (const [name, one] of Object.entries(value))
        search(one, key === "properties" && path ? [...path, name] : undefined, found, depth + 1);
  }
}

function mark(
  schema: JsonObject,
  path: readonly string[] | undefined,
  found: Map<string, ParamHeader>,
): void {
  const name = schema[keyword];
  if (typeof name !== "string" || !token.test(name))
    throw new Broken(`its ${keyword} ${JSON.stringify(name)} cannot be part of a header's name`);
  if (!path || path.length === 0)
    throw new Broken(`its ${keyword} "${name}" is not on a property that "properties" alone lead to`);
  const types = [schema["type"]].flat().filter((type) => type !== "null");
  if (types.length === 0 || !types.every((type) => primitives.includes(type as string)))
    throw new Broken(`its ${keyword} "${name}" is on a property that is no string, integer or boolean`);
  const header = `Mcp-Param-${name}`;
  if (found.has(header.toLowerCase())) throw new Broken(`its ${keyword} "${name}" stands there twice`);
  found.set(header.toLowerCase(), { header, path });
}
