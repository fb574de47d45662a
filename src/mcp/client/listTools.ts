import type { Log } from "../../core/effects.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import { named } from "./failure.ts";
import { mendDefinition } from "./mendDefinition.ts";
import { paramHeaders } from "./paramHeaders.ts";

// What is more than this is no list any more. The longest of 36 recorded ones has 401 tools, another 1 MB.
const maxPages = 1_000;
const maxTools = 10_000;
/** Of all pages together, as JSON in UTF-16 units: each page alone may be as long as a message. */
const maxLength = 32 * 1024 * 1024;
/** More mended or refused tools than this are counted in the log, not named. */
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
  /** Why which tool is left out. */
  readonly refused: string[];
  count: number;
  length: number;
}

/**
 * All pages of `tools/list`, members that MCP does not name included. Definitions that a client could not read are
 * mended, see `mendDefinition`. A tool without a name or a usable input schema is left out, and so is a second one
 * of the same name. The log tells of all that. Rejects with an `Error` if the pages do not end, or hold more than a
 * list can.
 */
export async function listTools(listing: Listing): Promise<readonly ToolDefinition[]> {
  const gathered: Gathered = { tools: new Map(), mended: [], refused: [], count: 0, length: 0 };
  const seen = new Set<unknown>();
  let params: JsonObject = {};
  for (let page = 0; page < maxPages; page++) {
    const result = await listing.ask(params);
    if (!Array.isArray(result["tools"])) throw new Error('its answer to tools/list has no "tools" array');
    addPage(result["tools"], gathered, listing);
    const cursor = result["nextCursor"];
    // Any other value is a cursor, the empty string too (server/utilities/pagination).
    if (cursor === undefined || cursor === null) {
      tell(gathered, listing);
      return [...gathered.tools.values()];
    }
    if (seen.has(cursor)) throw new Error("tools/list gave the same cursor twice: its pages would never end");
    seen.add(cursor);
    params = { cursor };
  }
  throw new Error(`tools/list has more than ${maxPages} pages`);
}

function addPage(page: readonly unknown[], gathered: Gathered, listing: Listing): void {
  gathered.count += page.length;
  if (gathered.count > maxTools) throw new Error(`tools/list has more than ${maxTools} tools`);
  gathered.length += JSON.stringify(page).length;
  if (gathered.length > maxLength) throw new Error(`tools/list is longer than ${maxLength} characters`);
  for (const tool of page) {
    const reason = take(tool, gathered, listing);
    if (reason === undefined) continue;
    const name = isObject(tool) ? tool["name"] : undefined;
    gathered.refused.push(
      `the tool ${typeof name === "string" ? quoted(name) : "without a name"} is left out: ${reason}.`,
    );
  }
}

/** The reason, where the tool is left out. */
function take(tool: unknown, { tools, mended }: Gathered, { checkHeaders }: Listing): string | undefined {
  const name = isObject(tool) ? tool["name"] : undefined;
  if (typeof name !== "string" || name === "") return "a tool needs a name";
  const result = mendDefinition(tool as JsonObject);
  if ("refused" in result) return result.refused;
  if (tools.has(name)) return "there is one of this name already";
  const { definition } = result;
  const headers = checkHeaders ? paramHeaders(definition.inputSchema) : [];
  if (typeof headers === "string") return headers;
  tools.set(name, definition);
  if (result.mended.length > 0) mended.push(`${quoted(name)} (${result.mended.join(", ")})`);
  return undefined;
}

function tell({ mended, refused }: Gathered, { namespace, log }: Listing): void {
  const warn = (what: string): void => log("warning", `${named(namespace)}: ${what}`);
  for (const line of refused.slice(0, maxNamed)) warn(line);
  if (refused.length > maxNamed) warn(`${refused.length - maxNamed} more tools are left out.`);
  if (mended.length === 0) return;
  const more = mended.length > maxNamed ? `, and ${mended.length - maxNamed} more` : "";
  warn(`tools were defined wrongly and have been mended: ${mended.slice(0, maxNamed).join(", ")}${more}.`);
}

function quoted(name: string): string {
  return `"${name.slice(0, 200)}"`;
}
