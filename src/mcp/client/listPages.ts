import type { Log } from "../../core/effects.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import { named } from "./failure.ts";

// What is more than this is no list any more. The longest of 36 recorded ones has 401 tools, another 1 MB.
const maxPages = 1_000;
const maxEntries = 10_000;
/** Of all pages together, as JSON in UTF-16 units: each page alone may be as long as a message. */
const maxLength = 32 * 1024 * 1024;
/** More mended or refused entries than this are counted in the log, not named. */
const maxNamed = 20;

/** One entry as it is served, with the members that had to be changed for it, or why it is left out. */
export type Taken =
  | { readonly definition: JsonObject; readonly mended: readonly string[] }
  | { readonly refused: string };

export interface Listing {
  readonly namespace: string;
  readonly log: Log;
  readonly method: string;
  /** The result's array. */
  readonly member: string;
  /** The entries' member that names them, which no two share, and what to call it. */
  readonly key: { readonly member: string; readonly word: string };
  /** What an entry is, such as `tool`. */
  readonly noun: string;
  /** Judges an entry that has its key. */
  take(entry: JsonObject): Taken;
  /** One request with these parameters. */
  ask(params: JsonObject): Promise<JsonObject>;
}

export interface List {
  readonly entries: readonly JsonObject[];
  /** How long the server calls it fresh (specification 2026-07-28, server/utilities/caching), in milliseconds; 0 where it does not. */
  readonly ttlMs: number;
}

/** A list while its pages come in. */
interface Gathered {
  readonly entries: Map<string, JsonObject>;
  /** What was changed in which entry. */
  readonly mended: string[];
  /** Why which entry is left out. */
  readonly refused: string[];
  count: number;
  length: number;
  ttlMs: number;
}

/**
 * All pages of a list, members that MCP does not name included. An entry without its key or that `take` refuses is
 * left out, and so is a second one of the same key; the log tells of that and of what was mended. Rejects with an
 * `Error` if the pages do not end, or hold more than a list can.
 */
export async function listPages(listing: Listing): Promise<List> {
  const { method, member } = listing;
  const gathered: Gathered = {
    entries: new Map(),
    mended: [],
    refused: [],
    count: 0,
    length: 0,
    ttlMs: Infinity,
  };
  const seen = new Set<unknown>();
  let params: JsonObject = {};
  for (let page = 0; page < maxPages; page++) {
    const result = await listing.ask(params);
    const entries = result[member];
    if (!Array.isArray(entries)) throw new Error(`its answer to ${method} has no "${member}" array`);
    gathered.ttlMs = Math.min(gathered.ttlMs, toTtl(result["ttlMs"]));
    addPage(entries, gathered, listing);
    const cursor = result["nextCursor"];
    // Any other value is a cursor, the empty string too (server/utilities/pagination).
    if (cursor === undefined || cursor === null) {
      tell(gathered, listing);
      return { entries: [...gathered.entries.values()], ttlMs: gathered.ttlMs };
    }
    if (seen.has(cursor)) throw new Error(`${method} gave the same cursor twice: its pages would never end`);
    seen.add(cursor);
    params = { cursor };
  }
  throw new Error(`${method} has more than ${maxPages} pages`);
}

function addPage(page: readonly unknown[], gathered: Gathered, listing: Listing): void {
  const { method, noun, key } = listing;
  gathered.count += page.length;
  if (gathered.count > maxEntries) throw new Error(`${method} has more than ${maxEntries} ${noun}s`);
  gathered.length += JSON.stringify(page).length;
  if (gathered.length > maxLength) throw new Error(`${method} is longer than ${maxLength} characters`);
  for (const entry of page) {
    const reason = take(entry, gathered, listing);
    if (reason === undefined) continue;
    const name = isObject(entry) ? entry[key.member] : undefined;
    const which = typeof name === "string" ? quoted(name) : `without a ${key.word}`;
    gathered.refused.push(`the ${noun} ${which} is left out: ${reason}.`);
  }
}

/** The reason, where the entry is left out. */
function take(entry: unknown, { entries, mended }: Gathered, listing: Listing): string | undefined {
  const { key, noun } = listing;
  const name = isObject(entry) ? entry[key.member] : undefined;
  if (typeof name !== "string" || name === "") return `a ${noun} needs a ${key.word}`;
  const taken = listing.take(entry as JsonObject);
  if ("refused" in taken) return taken.refused;
  if (entries.has(name)) return `there is one of this ${key.word} already`;
  entries.set(name, taken.definition);
  if (taken.mended.length > 0) mended.push(`${quoted(name)} (${taken.mended.join(", ")})`);
  return undefined;
}

function tell({ mended, refused }: Gathered, { namespace, log, noun }: Listing): void {
  const warn = (what: string): void => log("warning", `${named(namespace)}: ${what}`);
  for (const line of refused.slice(0, maxNamed)) warn(line);
  if (refused.length > maxNamed) warn(`${refused.length - maxNamed} more ${noun}s are left out.`);
  if (mended.length === 0) return;
  const more = mended.length > maxNamed ? `, and ${mended.length - maxNamed} more` : "";
  warn(`${noun}s were defined wrongly and have been mended: ${mended.slice(0, maxNamed).join(", ")}${more}.`);
}

/** Absent and negative count as 0. */
function toTtl(value: unknown): number {
  return typeof value === "number" && value > 0 ? value : 0;
}

function quoted(name: string): string {
  return `"${name.slice(0, 200)}"`;
}
