import { ToolError } from "../../core/errors.ts";
import { SessionLost } from "../../transports/http/dial.ts";
import { RpcError } from "../../wire/jsonrpc.ts";
import { CancelledError, OversizedError, TimeoutError } from "../../wire/peer.ts";
import { readable } from "./negotiate.ts";

/** How a person knows the upstream. */
export function named(namespace: string): string {
  return `Upstream "${namespace}"`;
}

/**
 * Why a request to an upstream failed, in the terms of the call path. `doing` completes "while". `SessionLost`
 * passes unchanged: the request has not run, and whoever owns the connection can do better than fail.
 */
export function toFailure(namespace: string, doing: string, error: unknown): ToolError | SessionLost {
  if (error instanceof ToolError || error instanceof SessionLost) return error;
  const who = named(namespace);
  if (error instanceof RpcError) {
    const { code, message, data } = error;
    return new ToolError("UpstreamError", `${who}: ${message}`, {
      data: { error: { code, message, ...(data !== undefined && { data }) } },
      cause: error,
    });
  }
  if (error instanceof CancelledError) return new ToolError("Cancelled", `Cancelled while ${doing}.`);
  if (error instanceof TimeoutError)
    return new ToolError("Unavailable", `${who} did not answer while ${doing}: ${error.message}.`);
  if (error instanceof OversizedError)
    return new ToolError("ResultTooLarge", `${who} failed while ${doing}: ${error.message}.`);
  const reason = readable(error);
  const text = reason instanceof Error ? reason.message : String(reason);
  return new ToolError("Unavailable", `${who} failed while ${doing}: ${text}`, { cause: error });
}
