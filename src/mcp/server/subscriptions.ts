import type { Session } from "../../wire/endpoint.ts";
import { tooMany, type Server } from "./method.ts";

/** Resources that one legacy session, or one stream, may have subscribed to at once. */
export const maxSubscriptions = 1_000;

/**
 * Takes what so many subscriptions hold, `length` UTF-16 units in all; returns how to give it back, to be called once.
 * Throws `RpcError` where it is too much for one principal.
 */
export function takeSubscriptions(
  { subscriptions, subscribed }: Server,
  principal: string,
  { count, length }: { count: number; length: number },
): () => void {
  if (!subscriptions.take(principal, count))
    throw tooMany("Too many resources are subscribed to by this principal. Unsubscribe from some first.");
  if (!subscribed.take(principal, length)) {
    subscriptions.giveBack(principal, count);
    throw tooMany(
      "What this principal has subscribed to is too long together. Unsubscribe from some first, or use shorter URIs.",
    );
  }
  return () => {
    subscriptions.giveBack(principal, count);
    subscribed.giveBack(principal, length);
  };
}

/** All of a legacy session. */
export function endSubscriptions({ legacy }: Session, reason: string): void {
  for (const subscription of legacy?.subscriptions.values() ?? []) subscription.cancel(reason);
}
