import type { Log } from "../../core/effects.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import { named } from "./failure.ts";
import { mendDefinition } from "./mendDefinition.ts";
import { paramHeaders } from "./paramHeaders.ts";

/** More pages than this are no list any more. */
const maxPages = 1_000;
/** More mended tools than this are counted in the log, not named. */
const maxNamed = 20;

export interface Listing {
  readonly namespace: string;
  readonly log: Log;
  /** Modern servers may name parameters that go into headers; what breaks the rules for that is left out. */
  readonly checkHeaders: boolean;
  /** One `tools/list` request with these parameters. */
  ask(params: JsonObject): Promise<JsonObject>;
}

/** A list while its pages come in. */
interface Gathered {
  readonly tools: Map<string, ToolDefinition>;
  /** What was changed in which tool. */
  readonly mended: string[];
}

/**
 * All pages of `tools/list`, members that MCP does not name included. Definitions that a client could not read are
 * mended, see `mendDefinition`. A tool without a name or a usable input schema is left out, and so is a second one
 * of the same name. The log tells of all that. Rejects with an `Error` if the pages do not end.
 */
export async function listTools(listing: Listing): Promise<readonly ToolDefinition[]> {
  const gathered: Gathered = { tools: new Map(), mended: [] };
  const seen = new Set<unknown>();
  let params: JsonObject = {};
  for (let page = 0; page < maxPages; page++) {
    const result = await listing.ask(params);
    if (!Array.isArray(result["tools"])) throw new Error('its answer to tools/list has no "tools" array');
    for (const tool of result["tools"] as unknown[]) take(tool, gathered, listing);
    const cursor = result["nextCursor"];
    // Any other value is a cursor, the empty string too (server/utilities/pagination).
    if (cursor === undefined || cursor === null) {
      tellMended(gathered.mended, listing);
      return [...gathered.tools.values()];
    }
    if (seen.has(cursor)) throw new Error("tools/list gave the same cursor twice: its pages would never end");
    seen.add(cursor);
    params = { cursor };
  }
  throw new Error(`tools/list has more than ${maxPages} pages`);
}

function take(tool: unknown, { tools, mended }: Gathered, { namespace, log, checkHeaders }: Listing): void {
  const name = isObject(tool) ? tool["name"] : undefined;
  const refuse = (why: string): void => {
    const which = typeof name === "string" ? quoted(name) : "without a name";
    log("warning", `${named(namespace)}: the tool ${which} is left out: ${why}.`);
  };
  if (typeof name !== "string" || name === "") return refuse("a tool needs a name");
  const result = mendDefinition(tool as JsonObject);
  if ("refused" in result) return refuse(result.refused);
  if (tools.has(name)) return refuse("there is one of this name already");
  const { definition } = result;
  const headers = checkHeaders ? paramHeaders(definition.inputSchema) : [];
  if (typeof headers === "string") return refuse(headers);
  tools.set(name, definition);
  if (result.mended.length > 0) mended.push(`${quoted(name)} (${result.mended.join(", ")})`);
}

function tellMended(mended: readonly string[], { namespace, log }: Listing): void {
  if (mended.length === 0) return;
  const more = mended.length > maxNamed ? `, and ${mended.length - maxNamed} more` : "";
  const tools = mended.slice(0, maxNamed).join(", ") + more;
  log("warning", `${named(namespace)}: tools were defined wrongly and have been mended: ${tools}.`);
}

function quoted(name: string): string {
  return `"${name.slice(0, 200)}"`;
}
