import type { JsonObject } from "../../core/json.ts";
import type { ListKind } from "../../core/provider.ts";
import { paramHeaders } from "../../wire/paramHeaders.ts";
import type { Listing, Taken } from "./listPages.ts";
import { mendDefinition } from "./mendDefinition.ts";

/** The lists that a server has, by the members of their results. */
export type ListName = "tools" | "prompts" | "resources" | "resourceTemplates";

export interface ListSpec extends Pick<Listing, "method" | "key" | "noun"> {
  /** The capability that announces it, and by which a change of it is told. */
  readonly kind: ListKind;
}

const byName = { member: "name", word: "name" };

export const lists: Readonly<Record<ListName, ListSpec>> = {
  tools: { method: "tools/list", key: byName, noun: "tool", kind: "tools" },
  prompts: { method: "prompts/list", key: byName, noun: "prompt", kind: "prompts" },
  resources: {
    method: "resources/list",
    key: { member: "uri", word: "URI" },
    noun: "resource",
    kind: "resources",
  },
  resourceTemplates: {
    method: "resources/templates/list",
    key: { member: "uriTemplate", word: "URI template" },
    noun: "resource template",
    kind: "resources",
  },
};

export const listNames = Object.keys(lists) as readonly ListName[];

/**
 * How an entry is judged. Tools that a client could not read are mended, see `mendDefinition`; where `checkHeaders`
 * is set, those whose `x-mcp-header` breaks the rules are left out. Other entries are served as they are.
 */
export function takerOf(name: ListName, checkHeaders: boolean): (entry: JsonObject) => Taken {
  if (name !== "tools") return (definition) => ({ definition, mended: [] });
  return (entry) => {
    const result = mendDefinition(entry);
    if (!checkHeaders || "refused" in result) return result;
    const headers = paramHeaders(result.definition.inputSchema);
    return typeof headers === "string" ? { refused: headers } : result;
  };
}
