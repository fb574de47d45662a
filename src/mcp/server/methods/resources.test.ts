import { describe, expect, it } from "vitest";
import { Cancellation } from "../../../core/cancellation.ts";
import { ToolError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { ResourceProvider, Subscriber } from "../../../core/provider.ts";
import { deferred } from "../../../../test/support/providers.ts";
import { callerTo, providerOf, ShellClient } from "../../../../test/support/shellClient.ts";

/** A server of resources, and who has subscribed. */
function serving(more: Partial<ResourceProvider> = {}) {
  const subscribers: { uri: string; subscriber: Subscriber }[] = [];
  const resources: ResourceProvider = {
    listResources: async () => [{ uri: "a:b", name: "b" }],
    listResourceTemplates: async () => [],
    readResource: async (uri) => {
      if (uri !== "a:b") throw new ToolError("NotFound", `Resource not found: ${uri}`);
      return { contents: [{ uri, text: "x" }] };
    },
    subscribe: async (uri, subscriber) => void subscribers.push({ uri, subscriber }),
    ...more,
  };
  const client = new ShellClient(callerTo(providerOf({}, { resources })));
  return { client, subscribers };
}

describe("resources/read", () => {
  it("answers the contents, stale at once unless the provider says otherwise, and for this caller alone", async () => {
    const { client } = serving();
    const { result } = await client.modern("resources/read", { uri: "a:b" });
    const hints = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
    expect(result).toMatchObject({ contents: [{ uri: "a:b", text: "x" }], ...hints });
    await client.initialize();
    const legacy = (await client.ask("resources/read", { uri: "a:b" })).result;
    expect(legacy).toEqual({ contents: [{ uri: "a:b", text: "x" }] });
  });

  it.each([
    [5000, 5000],
    [-1, 0],
    ["soon", 0],
  ])("makes of the hint ttlMs %j %j", async (ttlMs, told) => {
    const readResource = async (): Promise<JsonObject> => ({ contents: [], ttlMs, cacheScope: "public" });
    const { result } = await serving({ readResource }).client.modern("resources/read", { uri: "a:b" });
    expect(result).toMatchObject({ ttlMs: told, cacheScope: "private" });
  });

  it("tells of a resource that is not there by the code of the client's era", async () => {
    const { client } = serving();
    const error = { message: "Resource not found: a:z", data: { uri: "a:z" } };
    expect((await client.modern("resources/read", { uri: "a:z" })).error).toEqual({ code: -32602, ...error });
    await client.initialize();
    expect((await client.ask("resources/read", { uri: "a:z" })).error).toEqual({ code: -32002, ...error });
  });

  it("wants a URI", async () => {
    expect((await serving().client.modern("resources/read", { uri: 1 })).error.code).toBe(-32602);
  });
});

describe("a subscription of a session", () => {
  it("is told of changes until it is withdrawn", async () => {
    const { client, subscribers } = serving();
    await client.initialize();
    expect((await client.ask("resources/subscribe", { uri: "a:b" })).result).toEqual({});
    const [{ subscriber }] = subscribers as [(typeof subscribers)[0]];
    subscriber.updated({ uri: "a:b/c" });
    expect((await client.ask("resources/unsubscribe", { uri: "a:b" })).result).toEqual({});
    expect(subscriber.cancellation.cancelled).toBe(true);
    subscriber.updated({ uri: "a:b" });
    expect(client.unsolicited.all).toEqual([
      { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "a:b/c" } },
    ]);
  });

  it("is one, however often it is asked for, and may be had again", async () => {
    const { client, subscribers } = serving();
    await client.initialize();
    await client.ask("resources/subscribe", { uri: "a:b" });
    await client.ask("resources/subscribe", { uri: "a:b" });
    expect(subscribers).toHaveLength(1);
    await client.ask("resources/unsubscribe", { uri: "a:b" });
    await client.ask("resources/subscribe", { uri: "a:b" });
    expect(subscribers).toHaveLength(2);
  });

  it("can be withdrawn where there is none", async () => {
    const { client } = serving();
    await client.initialize();
    expect((await client.ask("resources/unsubscribe", { uri: "a:z" })).result).toEqual({});
  });

  it("ends with the session, and when the session is opened again", async () => {
    const { client, subscribers } = serving();
    await client.initialize();
    await client.ask("resources/subscribe", { uri: "a:b" });
    await client.initialize();
    await client.ask("resources/subscribe", { uri: "a:b" });
    const ended = (): boolean[] => subscribers.map(({ subscriber }) => subscriber.cancellation.cancelled);
    expect(ended()).toEqual([true, false]);
    client.shell.closed(client.session);
    expect(ended()).toEqual([true, true]);
  });

  it("that failed is over, also where the provider goes on with it, and may be tried again", async () => {
    let tries = 0;
    const kept: Subscriber[] = [];
    const subscribe: ResourceProvider["subscribe"] = async (_uri, subscriber) => {
      kept.push(subscriber);
      if (++tries === 1) throw new ToolError("TimedOut", "too slow");
    };
    const { client } = serving({ subscribe });
    await client.initialize();
    expect((await client.ask("resources/subscribe", { uri: "a:b" })).error).toEqual({
      code: -32603,
      message: "too slow",
    });
    kept[0]!.updated({ uri: "a:b" });
    expect(client.unsolicited.all).toEqual([]);
    expect((await client.ask("resources/subscribe", { uri: "a:b" })).result).toEqual({});
    expect(kept.map(({ cancellation }) => cancellation.cancelled)).toEqual([true, false]);
  });

  it("that fails late does not end the one that replaced it", async () => {
    const first = deferred();
    const kept: Subscriber[] = [];
    const subscribe: ResourceProvider["subscribe"] = (_uri, subscriber) =>
      kept.push(subscriber) === 1 ? first.promise : Promise.resolve();
    const { client } = serving({ subscribe });
    await client.initialize();
    const slow = client.ask("resources/subscribe", { uri: "a:b" });
    await client.ask("resources/unsubscribe", { uri: "a:b" });
    await client.ask("resources/subscribe", { uri: "a:b" });
    first.reject(new ToolError("TimedOut", "too slow"));
    await slow;
    client.shell.closed(client.session);
    expect(kept.map(({ cancellation }) => cancellation.cancelled)).toEqual([true, true]);
  });

  it("is refused where nobody tells changes", async () => {
    const { client } = serving({ subscribe: undefined as never });
    await client.initialize();
    expect((await client.ask("resources/subscribe", { uri: "a:b" })).error).toEqual({
      code: -32603,
      message: "Changes of a:b are not told by whoever serves it.",
    });
  });

  it("is one of 1,000 at most", async () => {
    const { client } = serving();
    await client.initialize();
    for (let n = 0; n < 1000; n++) await client.ask("resources/subscribe", { uri: `a:${n}` });
    const refused = await client.ask("resources/subscribe", { uri: "a:b" });
    expect(refused.error).toMatchObject({ code: -32602, message: expect.stringContaining("1000") });
    await client.ask("resources/unsubscribe", { uri: "a:7" });
    expect((await client.ask("resources/subscribe", { uri: "a:b" })).result).toEqual({});
  });

  it("is one of 10,000 of its principal at most, whatever the number of sessions", async () => {
    const { client } = serving();
    const sessions = Array.from({ length: 11 }, () => new ShellClient(client.shell));
    for (const session of sessions) await session.initialize();
    const last = sessions.pop()!;
    await Promise.all(
      sessions.flatMap((session) =>
        Array.from({ length: 1000 }, (_, n) => session.ask("resources/subscribe", { uri: `a:${n}` })),
      ),
    );
    expect(await last.ask("resources/subscribe", { uri: "a:b" })).toMatchObject({
      status: 429,
      error: { code: -32603, message: expect.stringContaining("Unsubscribe") },
    });
    const other = { principal: { id: "other" }, session: last.session, send: () => true };
    expect((await last.ask("resources/subscribe", { uri: "a:b" }, other)).result).toEqual({});
    client.shell.closed(sessions[0]!.session);
    expect((await last.ask("resources/subscribe", { uri: "a:c" })).result).toEqual({});
  });

  it("has a URI that leaves room for others: all of a principal have 16 MiB", async () => {
    const { client } = serving();
    await client.initialize();
    const subscribe = (n: number) =>
      client.ask("resources/subscribe", { uri: `a:${n}${"x".repeat(6 * 1024 * 1024)}` });
    for (const n of [1, 2]) expect((await subscribe(n)).result).toEqual({});
    expect(await subscribe(3)).toMatchObject({
      status: 429,
      error: { message: expect.stringContaining("shorter") },
    });
    client.shell.closed(client.session);
    await client.initialize();
    expect((await subscribe(3)).result).toEqual({});
  });
});

it("a read that its client cancels is told so", async () => {
  const cancellation = new Cancellation();
  let seen: AbortSignal | undefined;
  const readResource: ResourceProvider["readResource"] = async (_uri, ctx) => {
    seen = ctx.signal;
    cancellation.cancel("gone");
    return { contents: [] };
  };
  const { client } = serving({ readResource });
  const way = { principal: { id: "local" }, cancellation, send: () => true };
  const reply = await client.modern("resources/read", { uri: "a:b" }, { exchange: way } as never);
  expect([reply, seen?.aborted]).toEqual([undefined, true]);
});
