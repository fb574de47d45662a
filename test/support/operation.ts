import type { InputRequest } from "../../src/core/context.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { Outcome, ResolvedOperation } from "../../src/core/operation.ts";
import type { ToolFacts, ToolProvider } from "../../src/core/provider.ts";
import { isToolResult, type OperationResult, type ToolResult } from "../../src/core/result.ts";
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

/** The same for what a tool asks of the client. */
export function question(method: InputRequest["method"] = "elicitation/create"): ResolvedOperation {
  const { item, ...operation } = resolvedOperation({ arguments: { message: "Sure?" } });
  return { ...operation, kind: method, name: method, canonicalName: `files__${method}`, item: item! };
}

/** A tool's answer; anything else fails the test. */
export function toolResult(result: OperationResult): ToolResult {
  if (isToolResult(result)) return result;
  throw new Error(`This is no tool's answer: ${JSON.stringify(result)}`);
}

/** The answer of a tool's call that ended with one; any other end fails the test. */
export function resultOf(outcome: Outcome): ToolResult {
  if (outcome.type === "result") return toolResult(outcome.result);
  throw new Error(`The call ended without an answer: ${JSON.stringify(outcome)}`);
}
