import type { Reply } from "../../wire/endpoint.ts";
import { RpcError, rpcErrors } from "../../wire/jsonrpc.ts";

/** Messages in one batch: each costs an answer, and all answers are held until the last one is there. */
const maxMessages = 100;
/** All answers to one batch, in UTF-16 units. A string cannot hold much more. */
const maxAnswer = 256 * 1024 * 1024;

/** Throws `RpcError` for a batch that this session's revision does not have, or that is too long. Only 2025-03-26 has them. */
export function checkBatch(length: number, protocolVersion: string | undefined): void {
  if (protocolVersion !== "2025-03-26") throw refused("Invalid Request");
  if (length > maxMessages) throw refused(`Invalid Request: a batch holds ${maxMessages} messages at most`);
}

/** The answers as one; undefined where none is due. Throws `RpcError` where they are too long together. */
export function joinReplies(replies: readonly (Reply | undefined)[]): Reply | undefined {
  const texts = replies.flatMap((reply) => (reply ? [reply.text] : []));
  if (texts.length === 0) return undefined;
  if (texts.reduce((sum, text) => sum + text.length, 0) > maxAnswer)
    throw new RpcError(rpcErrors.internalError, "The answers are too long for one batch: send smaller ones");
  return { text: `[${texts.join(",")}]`, status: 200 };
}

function refused(message: string): RpcError {
  return new RpcError(rpcErrors.invalidRequest, message, { status: 400 });
}
