import type { JsonObject } from "../../src/core/json.ts";
import type { ResolvedOperation } from "../../src/core/operation.ts";
import type { ToolFacts, ToolProvider } from "../../src/core/provider.ts";
import type { ToolDefinition } from "../../src/core/tool.ts";

interface Init {
  arguments?: JsonObject;
  facts?: ToolFacts;
  definition?: Partial<ToolDefinition>;
}

const provider: ToolProvider = {
  namespace: "files",
  listTools: () => Promise.reject(new Error("a middleware lists nothing")),
  callTool: () => Promise.reject(new Error("a middleware calls no provider")),
};

/** A call of `files__read`, resolved, as a middleware gets it. */
export function resolvedOperation(init: Init = {}): ResolvedOperation {
  const canonicalName = "files__read";
  return {
    kind: "tools/call",
    name: canonicalName,
    canonicalName,
    arguments: init.arguments ?? {},
    meta: {},
    item: {
      kind: "tool",
      provider,
      name: "read",
      canonicalName,
      definition: { name: canonicalName, inputSchema: { type: "object" }, ...init.definition },
      facts: init.facts ?? {},
    },
  };
}

/** The same for a name that nothing has. */
export function unresolvedOperation(): ResolvedOperation {
  return { kind: "tools/call", name: "files__gone", canonicalName: "files__gone", arguments: {}, meta: {} };
}
