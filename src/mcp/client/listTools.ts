import type { Log } from "../../core/effects.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import { named } from "./failure.ts";
import { paramHeaders } from "./paramHeaders.ts";

/** More pages than this are no list any more. */
const maxPages = 1_000;

export interface Listing {
  readonly namespace: string;
  readonly log: Log;
  /** Modern servers may name parameters that go into headers; what breaks the rules for that is left out. */
  readonly checkHeaders: boolean;
  /** One `tools/list` request with these parameters. */
  ask(params: JsonObject): Promise<JsonObject>;
}

/**
 * All pages of `tools/list`, members that MCP does not name included. A tool without a name or an input
 * schema is left out, and so is a second one of the same name; the log says so. Rejects with an `Error` if
 * the pages do not end.
 */
export async function listTools(listing: Listing): Promise<readonly ToolDefinition[]> {
  const tools = new Map<string, ToolDefinition>();
  const seen = new Set<unknown>();
  let params: JsonObject = {};
  for (let page = 0; page < maxPages; page++) {
    const result = await listing.ask(params);
    if (!Array.isArray(result["tools"])) throw new Error('its answer to tools/list has no "tools" array');
    for (const tool of result["tools"] as unknown[]) take(tool, tools, listing);
    const cursor = result["nextCursor"];
    // Any other value is a cursor, the empty string too (server/utilities/pagination).
    if (cursor === undefined || cursor === null) return [...tools.values()];
    if (seen.has(cursor)) throw new Error("tools/list gave the same cursor twice: its pages would never end");
    seen.add(cursor);
    params = { cursor };
  }
  throw new Error(`tools/list has more than ${maxPages} pages`);
}

function take(
  tool: unknown,
  tools: Map<string, ToolDefinition>,
  { namespace, log, checkHeaders }: Listing,
): void {
  const name = isObject(tool) ? tool["name"] : undefined;
  const refuse = (why: string): void => {
    const which = typeof name === "string" ? `"${name.slice(0, 200)}"` : "without a name";
    log("warning", `${named(namespace)}: the tool ${which} is left out: ${why}.`);
  };
  if (typeof name !== "string" || name === "") return refuse("a tool needs a name");
  const { inputSchema } = tool as JsonObject;
  if (!isObject(inputSchema)) return refuse("its inputSchema is no object");
  if (tools.has(name)) return refuse("there is one of this name already");
  const headers = checkHeaders ? paramHeaders(inputSchema) : [];
  if (typeof headers === "string") return refuse(headers);
  tools.set(name, tool as ToolDefinition);
}
