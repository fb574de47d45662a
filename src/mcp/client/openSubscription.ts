import type { Inbound } from "./inbound.ts";
import type { Requests } from "./requests.ts";
import { Subscription, type SubscriptionOptions } from "./subscription.ts";

export interface OpenOptions extends Omit<SubscriptionOptions, "listen"> {
  readonly requests: Requests;
  readonly inbound: Inbound;
}

/** A subscription on a connection. It hears of its life from `inbound`, and listens for nothing until `changed`. */
export function openSubscription({ requests, inbound, ...options }: OpenOptions): Subscription {
  const subscription = new Subscription({
    ...options,
    listen: (notifications, how) => requests.own("subscriptions/listen", { notifications }, how),
  });
  inbound.subscriptions.push(subscription);
  return subscription;
}
