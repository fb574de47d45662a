import type { ContentBlock, TextContent } from "../core/content.ts";
import { pointBytes, utf8Bytes } from "./byteSize.ts";

/** Less leaves no room for the line that says what is missing. */
export const minCutBytes = 256;

/**
 * The blocks with the middle of their text cut out, as if it were one text: two thirds of what is left are its
 * head, one third its tail, and a line between says how many bytes are missing. All text together is at most
 * `limit` bytes of UTF-8; no character is split. There must be more than `limit` bytes of it.
 */
export function cutText(content: readonly ContentBlock[], limit: number): ContentBlock[] {
  const total = textSize(content);
  const room = limit - utf8Bytes(missingLine(total));
  const headRoom = Math.floor((room * 2) / 3);
  const head = take(content, headRoom, headLength);
  const tail = take(content.toReversed(), room - headRoom, tailLength);
  const missing = missingLine(total - head.bytes - tail.bytes);
  const tailAt = content.length - 1 - tail.at;
  return content.flatMap((block, at): ContentBlock[] => {
    if (!isText(block) || at < head.at || at > tailAt) return [block];
    const start = at === head.at ? block.text.slice(0, head.length) + missing : "";
    const end = at === tailAt ? block.text.slice(block.text.length - tail.length) : "";
    return start + end === "" ? [] : [{ ...block, text: start + end }];
  });
}

/** Bytes of all text blocks together, in UTF-8. */
export function textSize(content: readonly ContentBlock[]): number {
  return content.reduce((sum, block) => sum + (isText(block) ? utf8Bytes(block.text) : 0), 0);
}

interface Taken {
  /** The block that does not fit as a whole, and how much of its text (UTF-16 units) does. */
  readonly at: number;
  readonly length: number;
  /** All that was taken. */
  readonly bytes: number;
}

type Fit = (text: string, room: number) => { length: number; bytes: number };

function take(blocks: readonly ContentBlock[], room: number, fit: Fit): Taken {
  let bytes = 0;
  for (const [at, block] of blocks.entries()) {
    if (!isText(block)) continue;
    const fitting = fit(block.text, room - bytes);
    bytes += fitting.bytes;
    if (fitting.length < block.text.length) return { at, length: fitting.length, bytes };
  }
  throw new RangeError("cutText: the text fits, there is nothing to cut");
}

const headLength: Fit = (text, room) => {
  let bytes = 0;
  let length = 0;
  while (length < text.length) {
    const point = text.codePointAt(length)!;
    if (bytes + pointBytes(point) > room) break;
    bytes += pointBytes(point);
    length += point > 0xffff ? 2 : 1;
  }
  return { length, bytes };
};

const tailLength: Fit = (text, room) => {
  let bytes = 0;
  let from = text.length;
  while (from > 0) {
    // The two halves of a pair make one character.
    const pair = from > 1 && text.codePointAt(from - 2)! > 0xffff;
    const size = pair ? 4 : pointBytes(text.codePointAt(from - 1)!);
    if (bytes + size > room) break;
    bytes += size;
    from -= pair ? 2 : 1;
  }
  return { length: text.length - from, bytes };
};

function isText(block: ContentBlock): block is TextContent {
  return block.type === "text";
}

function missingLine(bytes: number): string {
  return `\n[... ${bytes} bytes are missing here ...]\n`;
}
