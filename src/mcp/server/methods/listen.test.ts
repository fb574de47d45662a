import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../core/json.ts";
import type { ListKind, ResourceProvider, Subscriber } from "../../../core/provider.ts";
import { metaKeys } from "../../../wire/protocol.ts";
import { settle } from "../../../../test/support/fakeClock.ts";
import { deferred } from "../../../../test/support/providers.ts";
import {
  callerTo,
  modernMeta,
  providerOf,
  ShellClient,
  wayOf,
  type ShellReply,
  type Way,
} from "../../../../test/support/shellClient.ts";

type Subscribe = NonNullable<ResourceProvider["subscribe"]>;

/** A server of tools and resources, not of prompts. */
function serving(subscribe?: (uri: string, subscriber: Subscriber) => Promise<void>) {
  const subscribers: { uri: string; subscriber: Subscriber }[] = [];
  const keep: Subscribe = async (uri, subscriber) => {
    subscribers.push({ uri, subscriber });
    await subscribe?.(uri, subscriber);
  };
  const watchers = new Set<(kind: ListKind) => void>();
  const resources: ResourceProvider = {
    listResources: async () => [],
    listResourceTemplates: async () => [],
    readResource: async () => ({ contents: [] }),
    subscribe: keep,
  };
  const watch = (listener: (kind: ListKind) => void) => {
    watchers.add(listener);
    return () => watchers.delete(listener);
  };
  const caller = { ...callerTo(providerOf({}, { resources })), watch };
  const client = new ShellClient(caller);
  const change = (kind: ListKind): void => watchers.forEach((watcher) => watcher(kind));
  return { client, subscribers, change, watchers };
}

const listen = (client: ShellClient, notifications: unknown, way: Way, id: string | number = 7) =>
  client.send(
    { id, method: "subscriptions/listen", params: { notifications, _meta: modernMeta } },
    way.exchange,
  );

const told = (method: string, params: JsonObject = {}, id: string | number = 7) => ({
  jsonrpc: "2.0",
  method: `notifications/${method}`,
  params: { ...params, _meta: { ...(params["_meta"] as object), [metaKeys.subscriptionId]: id } },
});

/** A stream that has been acknowledged. */
async function open(
  client: ShellClient,
  notifications: unknown,
): Promise<Way & { reply: Promise<ShellReply> }> {
  const way = wayOf();
  const reply = listen(client, notifications, way);
  expect((await way.sent.next()).method).toBe("notifications/subscriptions/acknowledged");
  return { ...way, reply };
}

const everyList = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

describe("subscriptions/listen", () => {
  it("says first what will come: what was asked for and is there", async () => {
    const { client } = serving();
    const { sent } = await open(client, { ...everyList, resourceSubscriptions: ["a:b", "a:b"], odd: true });
    const notifications = {
      toolsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ["a:b"],
    };
    expect(sent.all).toEqual([told("subscriptions/acknowledged", { notifications })]);
  });

  it("names the subscription in everything", async () => {
    const { client, subscribers, change } = serving();
    const { sent } = await open(client, { ...everyList, resourceSubscriptions: ["a:b"] });
    change("resources");
    await settle();
    subscribers[0]!.subscriber.updated({ uri: "a:b/c", _meta: { x: 1 } });
    expect(sent.all.slice(1)).toEqual([
      told("resources/list_changed"),
      told("resources/updated", { uri: "a:b/c", _meta: { x: 1 } }),
    ]);
  });

  it("tells no kind that was not asked for, or is not there", async () => {
    const { client, change } = serving();
    const { sent } = await open(client, { toolsListChanged: true, resourcesListChanged: "yes" });
    for (const kind of ["prompts", "resources", "tools"] as const) change(kind);
    await settle();
    expect(sent.methods.slice(1)).toEqual(["notifications/tools/list_changed"]);
  });

  it("tells a burst once", async () => {
    const { client, change } = serving();
    const { sent } = await open(client, { toolsListChanged: true });
    for (let n = 0; n < 100; n++) change("tools");
    await settle();
    expect(sent.all).toHaveLength(2);
  });

  it("acknowledges before the updates that come at once, and tells those once", async () => {
    const { client, change } = serving(async (uri, { updated }) => {
      updated({ uri });
      updated({ uri });
      change("tools");
      await settle();
    });
    const { sent } = await open(client, { ...everyList, resourceSubscriptions: ["a:b"] });
    expect(sent.methods).toEqual([
      "notifications/subscriptions/acknowledged",
      "notifications/resources/updated",
      "notifications/tools/list_changed",
    ]);
  });

  it("leaves out resources whose changes nobody tells", async () => {
    const { client } = serving(async (uri) => {
      if (uri === "a:z") throw new Error("no");
    });
    const { sent } = await open(client, { resourceSubscriptions: ["a:z", "a:b"] });
    expect(sent.all[0]!.params).toMatchObject({ notifications: { resourceSubscriptions: ["a:b"] } });
    const none = await open(client, { resourceSubscriptions: ["a:z"] });
    expect(none.sent.all[0]!.params).toMatchObject({ notifications: {} });
  });

  it("ends with an answer when the server stops", async () => {
    const { client, subscribers } = serving();
    const { reply } = await open(client, { resourceSubscriptions: ["a:b"] });
    client.shell.close();
    expect((await reply).result).toEqual({
      resultType: "complete",
      _meta: { [metaKeys.subscriptionId]: 7, [metaKeys.serverInfo]: { name: "test", version: "1" } },
    });
    expect(subscribers[0]!.subscriber.cancellation.cancelled).toBe(true);
  });

  it("ends at once where the server stops already, and what changes then is not told", async () => {
    const { client, change, watchers } = serving();
    client.shell.close();
    const { sent, reply } = await open(client, { toolsListChanged: true });
    change("tools");
    expect((await reply).result.resultType).toBe("complete");
    expect([sent.all.length, watchers.size]).toEqual([1, 0]);
  });

  it("ends with its client, and so do the subscriptions", async () => {
    const { client, subscribers, change } = serving();
    const { cancellation, sent, reply } = await open(client, {
      ...everyList,
      resourceSubscriptions: ["a:b"],
    });
    cancellation.cancel("gone");
    expect(subscribers[0]!.subscriber.cancellation.cancelled).toBe(true);
    change("tools");
    subscribers[0]!.subscriber.updated({ uri: "a:b" });
    expect([await reply, sent.all.length]).toEqual([undefined, 1]);
  });

  it("on a connection that stays ends by notifications/cancelled, alone", async () => {
    const { client, subscribers } = serving();
    const streams = ["one", "two"].map((id) =>
      client.send({
        id,
        method: "subscriptions/listen",
        params: { notifications: { resourceSubscriptions: [`a:${id}`] }, _meta: modernMeta },
      }),
    );
    await client.sent.next();
    await client.sent.next();
    await client.send({ method: "notifications/cancelled", params: { requestId: "one" } });
    expect(await streams[0]).toBeUndefined();
    expect(subscribers.map(({ subscriber }) => subscriber.cancellation.cancelled)).toEqual([true, false]);
    client.shell.closed(client.session);
    expect(await streams[1]).toBeUndefined();
    expect(subscribers[1]!.subscriber.cancellation.cancelled).toBe(true);
  });

  it("ends with its client while a provider does not say whether it subscribes", async () => {
    const { client, subscribers } = serving(() => new Promise(() => {}));
    const way = wayOf();
    void listen(client, { resourceSubscriptions: ["a:b"] }, way);
    await settle();
    way.cancellation.cancel("gone");
    expect(subscribers[0]!.subscriber.cancellation.cancelled).toBe(true);
  });

  it.each([
    ["nothing", undefined],
    ["a list", []],
    ["a URI instead of a list", { resourceSubscriptions: "a:b" }],
    ["a number for a URI", { resourceSubscriptions: ["a:b", 7] }],
  ])("refuses %s for a filter", async (_what, notifications) => {
    const way = wayOf();
    expect((await listen(serving().client, notifications, way)).error.code).toBe(-32602);
    expect(way.sent.all).toEqual([]);
  });

  it("takes 1,000 resources, and not one more", async () => {
    const { client, subscribers } = serving();
    const uris = Array.from({ length: 1001 }, (_, n) => `a:${n}`);
    await open(client, { resourceSubscriptions: uris.slice(1) });
    expect(subscribers).toHaveLength(1000);
    const refused = await listen(client, { resourceSubscriptions: uris }, wayOf());
    expect(refused.error).toMatchObject({ code: -32602, message: expect.stringContaining("1000") });
  });

  it("refuses a client that takes no stream, and holds nothing for it", async () => {
    const { client, subscribers } = serving();
    const deaf = { ...wayOf().exchange, send: () => false };
    const reply = await listen(client, { resourceSubscriptions: ["a:b"] }, { ...wayOf(), exchange: deaf });
    expect(reply).toMatchObject({ status: 406, error: { code: -32600 } });
    expect(reply.error.message).toContain("text/event-stream");
    expect(subscribers[0]!.subscriber.cancellation.cancelled).toBe(true);
  });
});

describe("what one principal holds", () => {
  it("is 1,000 streams at most; others have their own", async () => {
    const { client } = serving();
    const ways = Array.from({ length: 1000 }, () => wayOf());
    const replies = ways.map((way, n) => listen(client, {}, way, n));
    await Promise.all(ways.map(({ sent }) => sent.next()));
    expect(await listen(client, {}, wayOf())).toMatchObject({ status: 429, error: { code: -32603 } });
    const other = wayOf("other");
    void listen(client, {}, other);
    await other.sent.next();
    ways[0]!.cancellation.cancel("gone");
    await replies[0];
    await open(client, {});
  });

  it("is 10,000 resources at most, in all of its streams", async () => {
    const { client } = serving();
    const uris = Array.from({ length: 1000 }, (_, n) => `a:${n}`);
    const streams = [];
    for (let n = 0; n < 10; n++) streams.push(await open(client, { resourceSubscriptions: uris }));
    const refused = await listen(client, { resourceSubscriptions: ["a:b"] }, wayOf());
    expect(refused).toMatchObject({ status: 429, error: { message: expect.stringContaining("resources") } });
    streams[0]!.cancellation.cancel("gone");
    await open(client, { resourceSubscriptions: ["a:b"] });
    await open(client, {});
  });

  it("is 16 MiB of requests at most, whatever is in them", async () => {
    const { client } = serving();
    const large = { junk: "x".repeat(6 * 1024 * 1024) };
    const streams = [await open(client, large), await open(client, large)];
    for (let n = 0; n < 2; n++)
      expect(await listen(client, large, wayOf())).toMatchObject({ status: 429, error: { code: -32603 } });
    streams[0]!.cancellation.cancel("gone");
    await open(client, large);
  });
});

describe("a legacy session", () => {
  it.each(["tools", "prompts", "resources"] as const)(
    "is told that the %s have changed, once opened",
    async (kind) => {
      const { client, change } = serving();
      const params = { protocolVersion: "2025-11-25", capabilities: {} };
      await client.ask("initialize", params);
      change(kind);
      await settle();
      expect(client.unsolicited.all).toEqual([]);
      await client.send({ method: "notifications/initialized" });
      change(kind);
      change(kind);
      await settle();
      expect(client.unsolicited.methods).toEqual([`notifications/${kind}/list_changed`]);
    },
  );

  it("does not keep the stream of a modern request waiting", async () => {
    const slow = deferred();
    const { client } = serving(() => slow.promise);
    await client.initialize();
    const subscribing = client.ask("resources/subscribe", { uri: "a:b" });
    await open(client, { toolsListChanged: true });
    slow.resolve();
    expect((await subscribing).result).toEqual({});
  });
});
