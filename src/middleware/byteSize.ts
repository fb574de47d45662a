/** Bytes of a text in UTF-8; a lone surrogate counts as the replacement character that it becomes. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at)!;
    bytes += pointBytes(point);
    if (point > 0xffff) at++;
  }
  return bytes;
}

/** Bytes of one code point in UTF-8. */
export function pointBytes(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

/** Bytes of a value as JSON. Throws where `JSON.stringify` does. */
export function jsonBytes(value: unknown): number {
  return utf8Bytes(JSON.stringify(value) ?? "");
}

/**
 * False: the value is certainly no more than `limit` bytes as JSON. It encodes nothing, so it is cheap. Of what
 * has no JSON, or makes its own, nothing is certain.
 */
export function mayExceed(value: unknown, limit: number): boolean {
  let left = limit;
  const rest: unknown[] = [value];
  while (rest.length > 0 && left >= 0) {
    const part = rest.pop();
    if (typeof part === "bigint") return true;
    if (typeof part === "string") left -= stringBound(part);
    else if (typeof part !== "object" || part === null) left -= scalarBound;
    else if ("toJSON" in part) return true;
    else if (Array.isArray(part)) {
      left -= 2 + part.length;
      for (const item of part as unknown[]) rest.push(item);
    } else {
      left -= 2;
      for (const [key, item] of Object.entries(part)) {
        left -= stringBound(key) + 2;
        rest.push(item);
      }
    }
  }
  return left < 0;
}

/** The longest number has 24 characters. */
const scalarBound = 24;

/** The longest that JSON makes of one UTF-16 unit is `\u0000`. */
function stringBound(text: string): number {
  return text.length * 6 + 2;
}
