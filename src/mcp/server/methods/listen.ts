import type { Cancellation } from "../../../core/cancellation.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import type { ListKind } from "../../../core/provider.ts";
import { RpcError, rpcErrors } from "../../../wire/jsonrpc.ts";
import { metaKeys, metaOf } from "../../../wire/protocol.ts";
import { aboutOf } from "../capabilities.ts";
import { contextOf } from "../context.ts";
import { invalidParams, tooMany, type Method, type MethodRequest, type Server } from "../method.ts";
import { maxSubscriptions, takeSubscriptions } from "../subscriptions.ts";

/** The filter's members, and the list whose changes each wants. */
const listMembers: Readonly<Record<string, ListKind>> = {
  toolsListChanged: "tools",
  promptsListChanged: "prompts",
  resourcesListChanged: "resources",
};

/**
 * One stream of notifications, which ends with its answer (specification 2026-07-28, basic/patterns/subscriptions).
 * First it says which of the kinds that were asked for will come; no other kind ever does.
 */
export const subscriptionsListen: Method = async (server, request) => {
  const wanted = request.params["notifications"];
  if (!isObject(wanted)) throw invalidParams("subscriptions/listen: params.notifications must be an object");
  const uris = urisOf(wanted);
  const giveBack = take(server, request, uris.length);
  // Whatever is still being subscribed to ends with its client at once.
  const ending = request.cancellation.child();
  ending.onCancel(giveBack);
  try {
    const stream = new Stream(request);
    await open(server, request, { wanted, uris, stream, ending });
    await over(server, ending);
    return { _meta: stream.meta };
  } finally {
    ending.cancel("the stream has ended");
    ending.release();
  }
};

/** Takes what the stream will hold; returns how to give it back. Throws `RpcError` where it is too much. */
function take(server: Server, { exchange, message }: MethodRequest, uris: number): () => void {
  const { id } = exchange.principal;
  if (!server.streams.take(id))
    throw tooMany("Too many streams of notifications of this principal are open. Close some first.");
  try {
    // The whole request lives as long as its stream, whatever else is in it.
    const held = { count: uris, length: JSON.stringify(message).length };
    const giveBack = takeSubscriptions(server, id, held);
    return () => {
      server.streams.giveBack(id);
      giveBack();
    };
  } catch (error) {
    server.streams.giveBack(id);
    throw error;
  }
}

interface Opening {
  readonly wanted: JsonObject;
  readonly uris: readonly string[];
  readonly stream: Stream;
  /** Cancelled when the stream ends. */
  readonly ending: Cancellation;
}

/** Resolves when the client has been told what will come. */
async function open(server: Server, request: MethodRequest, opening: Opening): Promise<void> {
  const { wanted, stream, ending } = opening;
  const lists = await granted(server, wanted);
  const stop = server.changes.listen((kind) => {
    if (lists.some((member) => listMembers[member] === kind))
      stream.send(`notifications/${kind}/list_changed`, {});
  });
  ending.onCancel(stop);
  const subscribed = await subscribe(server, request, opening);
  stream.acknowledge({
    ...Object.fromEntries(lists.map((member) => [member, true])),
    ...(subscribed.length > 0 && { resourceSubscriptions: subscribed }),
  });
}

/** Holds back what comes before the acknowledgement, and names the subscription in all that goes out. */
class Stream {
  readonly meta: JsonObject;
  readonly #request: MethodRequest;
  /** By what they tell: a second time tells nothing new. */
  #early: Map<string, () => void> | undefined = new Map();

  constructor(request: MethodRequest) {
    this.#request = request;
    this.meta = { [metaKeys.subscriptionId]: request.message.id };
  }

  send(method: string, params: JsonObject): void {
    if (this.#early) this.#early.set(`${method} ${String(params["uri"])}`, () => this.#send(method, params));
    else this.#send(method, params);
  }

  /** Throws `RpcError` where the client takes no stream. */
  acknowledge(notifications: JsonObject): void {
    const early = this.#early?.values() ?? [];
    this.#early = undefined;
    if (!this.#send("notifications/subscriptions/acknowledged", { notifications }))
      throw new RpcError(
        rpcErrors.invalidRequest,
        "subscriptions/listen is answered with a stream: send the header Accept: application/json, text/event-stream.",
        { status: 406 },
      );
    for (const send of early) send();
  }

  #send(method: string, params: JsonObject): boolean {
    const _meta = { ...metaOf({ params }), ...this.meta };
    return this.#request.notify({ jsonrpc: "2.0", method, params: { ...params, _meta } });
  }
}

function urisOf(wanted: JsonObject): readonly string[] {
  const uris = wanted["resourceSubscriptions"] ?? [];
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === "string"))
    throw invalidParams(
      "subscriptions/listen: params.notifications.resourceSubscriptions must be an array of strings",
    );
  if (uris.length > maxSubscriptions)
    throw invalidParams(`subscriptions/listen: a stream has ${maxSubscriptions} resources at most`);
  return [...new Set(uris)];
}

async function granted(server: Server, wanted: JsonObject): Promise<readonly string[]> {
  const { capabilities } = await aboutOf(server);
  return Object.keys(listMembers).filter(
    (member) => wanted[member] === true && capabilities[listMembers[member]!] !== undefined,
  );
}

/** The URIs whose changes will be told. */
async function subscribe(
  server: Server,
  request: MethodRequest,
  { uris, stream, ending }: Opening,
): Promise<readonly string[]> {
  if (uris.length === 0) return [];
  const ctx = contextOf(server, { request }, request.cancellation);
  const updated = (params: JsonObject): void => {
    if (!ending.cancelled) stream.send("notifications/resources/updated", params);
  };
  const subscriber = { updated, cancellation: ending };
  const outcomes = await Promise.all(
    uris.map((name) =>
      server.caller.call({ kind: "resources/subscribe", name, arguments: {}, subscriber }, ctx),
    ),
  );
  return uris.filter((_, at) => outcomes[at]?.type === "result");
}

/** Resolves when the client has had enough, or the server stops. */
function over(server: Server, ending: Cancellation): Promise<void> {
  return new Promise((resolve) => {
    const stop = server.ending.onCancel(() => resolve());
    ending.onCancel(() => {
      stop();
      resolve();
    });
  });
}
