import type { ContentBlock } from "../../core/content.ts";
import { ToolError } from "../../core/errors.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { ToolResult } from "../../core/result.ts";
import { named } from "./failure.ts";

/**
 * The result of `tools/call` as an upstream sent it (specification 2026-07-28, server/tools, Tool Result).
 * Content blocks are not looked into; members that MCP does not name go to `extra`. Throws `ToolError`
 * `Unsupported` for a result type other than `complete`, `ExecutionFailed` for what is no tool result.
 */
export function toToolResult(result: JsonObject, namespace: string, tool: string): ToolResult {
  const { content, structuredContent, isError, _meta, resultType, ...extra } = result;
  if (resultType !== undefined && resultType !== "complete")
    throw new ToolError(
      "Unsupported",
      `${named(namespace)} answered ${tool} with a result of type ${JSON.stringify(resultType)}, which this gateway does not support.`,
    );
  if (!Array.isArray(content) && structuredContent === undefined)
    throw new ToolError(
      "ExecutionFailed",
      `${named(namespace)} answered ${tool} with something that is no tool result: it has neither a "content" array nor "structuredContent".`,
    );
  return {
    content: Array.isArray(content) ? (content as ContentBlock[]) : [],
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isError === true && { isError }),
    ...(isObject(_meta) && { _meta }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}
