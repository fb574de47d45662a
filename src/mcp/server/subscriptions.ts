import type { Session } from "../../wire/endpoint.ts";
import type { RpcError } from "../../wire/jsonrpc.ts";
import { tooMany } from "./method.ts";

/** Resources that one legacy session, or one stream, may have subscribed to at once. */
export const maxSubscriptions = 1_000;

export function tooManySubscriptions(): RpcError {
  return tooMany("Too many resources are subscribed to by this principal. Unsubscribe from some first.");
}

/** All of a legacy session. */
export function endSubscriptions({ legacy }: Session, reason: string): void {
  for (const subscription of legacy?.subscriptions.values() ?? []) subscription.cancel(reason);
}
