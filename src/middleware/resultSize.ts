import type { ContentBlock } from "../core/content.ts";
import type { Middleware } from "../core/operation.ts";
import { ToolError } from "../core/errors.ts";
import { isToolResult, type ToolResult } from "../core/result.ts";
import { jsonBytes, mayExceed } from "./byteSize.ts";
import { cutText, minCutBytes, textSize } from "./cutText.ts";

export interface ResultSizeOptions {
  /** The largest result in bytes. Default 16 MiB. */
  readonly maxBytes?: number;
  /**
   * Bytes of text, at least 256: a result with more has its middle cut out. What is not text cannot be cut:
   * more than that of it fails the call. Default: nothing is cut.
   */
  readonly textBytes?: number;
}

/** Bounds what a tool, a resource, a prompt or a client may answer, be it an error. Text counts as UTF-8, anything else as its JSON. Throws `ToolError` `ResultTooLarge`. */
export function resultSize({
  maxBytes = 16 * 1024 * 1024,
  textBytes = maxBytes,
}: ResultSizeOptions = {}): Middleware {
  if (textBytes < maxBytes && textBytes < minCutBytes)
    throw new RangeError(`resultSize: textBytes is ${textBytes}; it must be at least ${minCutBytes}`);
  return {
    name: "resultSize",
    async call(operation, ctx, next) {
      const result = await next(operation, ctx).catch((error: unknown) => {
        throw boundedError(error, operation.name, maxBytes);
      });
      if (!mayExceed(result, Math.min(maxBytes, textBytes))) return result;
      if (isToolResult(result)) return bounded(result, operation.name, { maxBytes, textBytes });
      const size = jsonBytes(result);
      if (size > maxBytes) throw tooLarge(`The answer of ${operation.name}`, size, maxBytes);
      return result;
    },
  };
}

/** What another program has sent: errors of our own are short. */
function boundedError(error: unknown, name: string, maxBytes: number): unknown {
  if (!(error instanceof ToolError)) return error;
  const { code, message, data } = error;
  if (code !== "UpstreamError" && code !== "ClientRefused") return error;
  const said = { message, data };
  const size = mayExceed(said, maxBytes) ? jsonBytes(said) : 0;
  return size > maxBytes ? tooLarge(`The error of ${name}`, size, maxBytes) : error;
}

function bounded(
  result: ToolResult,
  name: string,
  { maxBytes, textBytes }: Required<ResultSizeOptions>,
): ToolResult {
  const text = textSize(result.content);
  const other = otherSize(result);
  if (text + other > maxBytes) throw tooLarge(`The answer of ${name}`, text + other, maxBytes);
  if (other > textBytes) throw tooLarge(`What is not text in the answer of ${name}`, other, textBytes);
  return text > textBytes ? { ...result, content: cutText(result.content, textBytes) } : result;
}

/** `metadata` stays inside, so it does not count. */
function otherSize(result: ToolResult): number {
  const { content, metadata: _, ...rest } = result;
  return content.reduce((sum, block) => sum + jsonBytes(withoutText(block)), jsonBytes(rest));
}

function withoutText(block: ContentBlock): unknown {
  if (block.type !== "text") return block;
  const { type: _, text: __, ...rest } = block;
  return rest;
}

function tooLarge(what: string, size: number, limit: number): ToolError {
  return new ToolError(
    "ResultTooLarge",
    `${what} is ${size} bytes, which is more than the limit of ${limit} bytes. Ask for less: a part, a filter, a page.`,
  );
}
