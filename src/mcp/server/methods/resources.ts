import { Cancellation } from "../../../core/cancellation.ts";
import type { JsonObject } from "../../../core/json.ts";
import { requireCapability } from "../capabilities.ts";
import { invalidParams, type Method, type MethodRequest } from "../method.ts";
import { performRaw } from "../performRaw.ts";
import { maxSubscriptions, takeSubscriptions } from "../subscriptions.ts";

/** Specification 2026-07-28, server/resources, Reading Resources. */
export const resourcesRead: Method = async (server, request) => {
  await requireCapability(server, request, "resources");
  const uri = uriOf(request);
  const result = await performRaw(server, request, { kind: "resources/read", name: uri, arguments: {} });
  if (request.era === "legacy" || result["resultType"] === "input_required") return result;
  const { ttlMs } = result;
  result["ttlMs"] = typeof ttlMs === "number" && ttlMs >= 0 ? ttlMs : 0;
  // Who may read it is decided here, for each caller.
  result["cacheScope"] = "private";
  return result;
};

/** Legacy only (specification 2025-11-25, server/resources, Subscriptions). A second time is no second subscription. */
export const resourcesSubscribe: Method = async (server, request) => {
  await requireCapability(server, request, "resources");
  const uri = uriOf(request);
  const { session, principal } = request.exchange;
  const subscriptions = session?.legacy?.subscriptions;
  if (!session || !subscriptions || subscriptions.has(uri)) return {};
  if (subscriptions.size >= maxSubscriptions)
    throw invalidParams(`${request.message.method}: a session has ${maxSubscriptions} subscriptions at most`);
  const giveBack = takeSubscriptions(server, principal.id, { count: 1, length: uri.length });
  const cancellation = new Cancellation();
  subscriptions.set(uri, cancellation);
  cancellation.onCancel(() => {
    giveBack();
    // The same may have been subscribed to again.
    if (subscriptions.get(uri) === cancellation) subscriptions.delete(uri);
  });
  const updated = (params: JsonObject): void => {
    if (cancellation.cancelled) return;
    session.send({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { ...params } });
  };
  try {
    return await performRaw(server, request, {
      kind: "resources/subscribe",
      name: uri,
      arguments: {},
      subscriber: { updated, cancellation },
    });
  } catch (error) {
    // What failed for us, by a time-out say, may be on its way all the same.
    cancellation.cancel("the subscription failed");
    throw error;
  }
};

/** Legacy only. What was not subscribed to is not an error: the end that was asked for is there. */
export const resourcesUnsubscribe: Method = async (server, request) => {
  await requireCapability(server, request, "resources");
  const uri = uriOf(request);
  request.exchange.session?.legacy?.subscriptions.get(uri)?.cancel("unsubscribed");
  return {};
};

function uriOf({ params, message }: MethodRequest): string {
  const { uri } = params;
  if (typeof uri !== "string") throw invalidParams(`${message.method}: params.uri must be a string`);
  return uri;
}
