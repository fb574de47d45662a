import type { IncomingMessage } from "node:http";
import { parse, type Incoming } from "../../wire/jsonrpc.ts";
import type { Refusal } from "./respond.ts";

export const notJson: Refusal = {
  status: 415,
  message: "Send the message with Content-Type: application/json.",
};

/** How many times the limit is read in all, so that a client still sending gets to read its answer. */
const patience = 4;

/**
 * Reads a body and calls back once with its message; never, if the client goes away first. One of more than
 * `maxBytes` is reported as soon as that is known; what follows is thrown away, and a client that does not
 * stop is cut off.
 */
export function readMessage(
  req: IncomingMessage,
  maxBytes: number,
  done: (incoming: Incoming) => void,
): void {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let oversized = false;
  req.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) {
      chunks.push(chunk);
      return;
    }
    if (!oversized) {
      oversized = true;
      chunks = [];
      done({ kind: "invalid", reason: "size", limit: maxBytes });
    }
    if (bytes > maxBytes * patience) req.destroy();
  });
  req.on("end", () => {
    if (oversized) return;
    const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    done(parse(body.toString()));
  });
}

/** True for the `Content-Type` of a message. */
export function isJson(contentType: string | undefined): boolean {
  return (
    contentType === "application/json" ||
    (contentType !== undefined && /^application\/json\s*(?:;|$)/i.test(contentType))
  );
}
