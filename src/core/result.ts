import type { ContentBlock } from "./content.ts";
import type { InputRequest } from "./context.ts";
import type { JsonObject, Meta } from "./json.ts";

/** What a tool answered. "The tool failed" is a result with `isError`; "the call failed" is a `ToolError`. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  /** Any JSON value; it conforms to the tool's `outputSchema` where there is one. */
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  /** Goes to the client. */
  readonly _meta?: Meta;
  /** For the inside only (hooks, audit, an agent loop): it is never sent to a client. */
  readonly metadata?: JsonObject;
  /** Members of an upstream's result that MCP does not name. They are sent on unchanged. */
  readonly extra?: JsonObject;
}

/** A result in MCP's own form, sent on as it is: of a resource, a prompt, a completion, or of an extension's type. */
export interface RawResult {
  readonly type: "raw";
  readonly value: JsonObject;
}

/**
 * The client must answer first; it then tries the same again with `answers` (specification 2026-07-28,
 * basic/patterns/mrtr). At least one of the two members is there. A client of an older revision is asked directly.
 */
export interface InputRequired {
  readonly type: "input_required";
  /** Questions by keys of the asker's own. */
  readonly inputRequests?: Readonly<Record<string, InputRequest>>;
  /** The asker's own; it comes back unread and unchanged. */
  readonly requestState?: string;
  readonly _meta?: Meta;
}

/** What any operation may answer. `content` is in a `ToolResult` only. */
export type OperationResult = ToolResult | RawResult | InputRequired;

/** What `execute` may return: a plain string is a success with one text block. */
export type ToolOutput = OperationResult | string;

const success = (text: string): ToolResult => ({ content: [{ type: "text", text }] });

const error = (text: string): ToolResult => ({ content: [{ type: "text", text }], isError: true });

const structured = (value: unknown): ToolResult => ({
  content: [{ type: "text", text: JSON.stringify(value) ?? "null" }],
  structuredContent: value,
});

const withMetadata = (result: ToolResult, metadata: JsonObject): ToolResult => ({
  ...result,
  metadata: { ...result.metadata, ...metadata },
});

/** All text blocks of a tool's result, joined by newlines; of any other result "". */
const text = (result: OperationResult): string =>
  isToolResult(result)
    ? result.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
    : "";

/** True for a tool's answer; false for a result in MCP's own form and for questions. */
export function isToolResult(result: OperationResult): result is ToolResult {
  return "content" in result;
}

export function isInputRequired(result: object): result is InputRequired {
  return "type" in result && result.type === "input_required";
}

/** Makes results. */
export const ToolResult = { success, error, structured, withMetadata, text };
