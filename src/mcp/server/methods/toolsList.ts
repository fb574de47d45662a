import type { JsonObject } from "../../../core/json.ts";
import type { ToolDefinition } from "../../../core/tool.ts";
import { contextOf } from "../context.ts";
import { invalidParams, type Method } from "../method.ts";

/** All tools that this caller may see, in pages where the server is set up so. */
export const toolsList: Method = async (server, request) => {
  const tools = await server.caller.list(contextOf(server, request));
  const size = server.pageSize ?? Infinity;
  const from = offsetOf(request.params["cursor"], tools.length);
  const page = size === Infinity && from === 0 ? tools : tools.slice(from, from + size);
  const result: JsonObject = { tools: request.era === "modern" ? page : page.map(legacy) };
  if (from + size < tools.length) result["nextCursor"] = btoa(String(from + size));
  // What an upstream may change at any time is stale at once; what a caller may see is its own.
  return request.era === "modern" ? { ...result, ttlMs: 0, cacheScope: "private" } : result;
};

/** Only 2026-07-28 knows answers that are no objects: for one such schema older clients refuse the whole list. */
function legacy(tool: ToolDefinition): ToolDefinition {
  if (tool.outputSchema === undefined || tool.outputSchema["type"] === "object") return tool;
  const { outputSchema: _, ...rest } = tool;
  return rest as ToolDefinition;
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
