import type { IncomingMessage } from "node:http";
import { parse, type Incoming } from "../../wire/jsonrpc.ts";
import { Pieces } from "../pieces.ts";
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
  let body: Pieces | undefined = new Pieces();
  let bytes = 0;
  req.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) return body?.add(chunk);
    if (body) {
      body = undefined;
      done({ kind: "invalid", reason: "size", limit: maxBytes });
    }
    if (bytes > maxBytes * patience) req.destroy();
  });
  req.on("end", () => {
    if (body) done(parse(body.text()));
  });
}

/** True for the `Content-Type` of a message. */
export function isJson(contentType: string | undefined): boolean {
  return (
    contentType === "application/json" ||
    (contentType !== undefined && /^application\/json\s*(?:;|$)/i.test(contentType))
  );
}
