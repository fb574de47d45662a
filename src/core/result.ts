import type { ContentBlock } from "./content.ts";
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

/** What `execute` may return: a plain string is a success with one text block. */
export type ToolOutput = ToolResult | string;

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

/** All text blocks of a result, joined by newlines. */
const text = (result: ToolResult): string =>
  result.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");

/** Makes results. */
export const ToolResult = { success, error, structured, withMetadata, text };
