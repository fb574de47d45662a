import type { ContentBlock } from "../../core/content.ts";
import type { ToolContext } from "../../core/context.ts";
import { ToolError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { OperationResult } from "../../core/result.ts";
import { travelling, unfinished, type Question } from "./answer.ts";
import { named } from "./failure.ts";

/**
 * The result of `tools/call` as an upstream sent it (specification 2026-07-28, server/tools, Tool Result), its
 * questions, or an extension's result. Content blocks are not looked into; members that MCP does not name go to
 * `extra`. Throws `ToolError` as `unfinished` does, and `ExecutionFailed` for what is no tool result.
 */
export function toToolResult(result: JsonObject, ctx: ToolContext, question: Question): OperationResult {
  const other = unfinished(result, ctx, question);
  if (other === "other") return { type: "raw", value: result };
  if (other) return other;
  const { content, structuredContent, isError, _meta, resultType: _, ...extra } = result;
  if (!Array.isArray(content) && structuredContent === undefined)
    throw new ToolError(
      "ExecutionFailed",
      `${named(question.namespace)} answered ${question.what} with something that is no tool result: it has neither a "content" array nor "structuredContent".`,
    );
  const meta = travelling(_meta);
  return {
    content: Array.isArray(content) ? (content as ContentBlock[]) : [],
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isError === true && { isError }),
    ...(meta && { _meta: meta }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}
