/**
 * Bytes as text; undefined for what is no text (a NUL byte, or not UTF-8). `cut` says that more bytes follow in the
 * file: a character that the end splits is then left out. A byte order mark stays, so that nothing is lost on the way.
 */
export function decodeText(bytes: Uint8Array, { cut }: { cut: boolean }): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    // A stream holds back the bytes of an unfinished character.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: cut });
  } catch {
    return undefined;
  }
}

/** The MIME type of an image that models take, by its first 12 bytes; undefined for anything else. */
export function imageType(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  if (/^RIFF.{4}WEBP/s.test(head)) return "image/webp";
  return undefined;
}
