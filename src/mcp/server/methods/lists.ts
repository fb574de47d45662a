import { isObject, type JsonObject } from "../../../core/json.ts";
import type { Item, ItemKind } from "../../../core/operation.ts";
import { capabilityOf, requireCapability } from "../capabilities.ts";
import { contextOf } from "../context.ts";
import { invalidParams, type Method } from "../method.ts";

/** The member that holds the entries. */
const memberOf = {
  tool: "tools",
  prompt: "prompts",
  resource: "resources",
  resourceTemplate: "resourceTemplates",
} as const;

/** All of a kind that this caller may see, in pages where the server is set up so. */
function list(kind: ItemKind): Method {
  return async (server, request) => {
    const { era, params, cancellation } = request;
    await requireCapability(server, request, capabilityOf[kind]);
    const items = await server.caller.items(kind, contextOf(server, { request }, cancellation));
    const size = server.pageSize ?? Infinity;
    const from = offsetOf(params["cursor"], items.length);
    const page = size === Infinity && from === 0 ? items : items.slice(from, from + size);
    const result: JsonObject = { [memberOf[kind]]: page.map(era === "modern" ? definitionOf : legacy) };
    if (from + size < items.length) result["nextCursor"] = btoa(String(from + size));
    // What an upstream may change at any time is stale at once; what a caller may see is its own.
    return era === "modern" ? { ...result, ttlMs: 0, cacheScope: "private" } : result;
  };
}

export const toolsList = list("tool");
export const promptsList = list("prompt");
export const resourcesList = list("resource");
export const resourceTemplatesList = list("resourceTemplate");

function definitionOf({ definition }: Item): JsonObject {
  return definition;
}

/** Only 2026-07-28 knows answers that are no objects: for one such schema older clients refuse the whole list. */
function legacy(item: Item): JsonObject {
  const { definition, kind } = item;
  if (kind !== "tool") return definition;
  const schema = definition["outputSchema"];
  if (schema === undefined || (isObject(schema) && schema["type"] === "object")) return definition;
  const { outputSchema: _, ...rest } = definition;
  return rest;
}

/** A cursor is the base64 of an offset. One that is not, or lies past the end, is an error (specification, pagination). */
function offsetOf(cursor: unknown, length: number): number {
  if (cursor === undefined) return 0;
  if (typeof cursor === "string" && /^[A-Za-z0-9+/]+=*$/.test(cursor) && cursor.length % 4 === 0) {
    const text = atob(cursor);
    if (/^[1-9][0-9]{0,8}$/.test(text) && Number(text) < length) return Number(text);
  }
  throw invalidParams("Invalid cursor: list again from the start");
}
