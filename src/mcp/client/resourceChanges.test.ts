import { describe, expect, test } from "vitest";
import { changeListener, connected, failure } from "../../../test/support/connected.ts";
import { settle } from "../../../test/support/fakeClock.ts";
import {
  announcing,
  legacyServer,
  modernServer,
  silence,
  type Answer,
} from "../../../test/support/fakeServer.ts";
import { RpcError } from "../../wire/jsonrpc.ts";

const subscribable = { tools: {}, resources: { subscribe: true } };

describe("a legacy server", () => {
  const serving = (answers: Record<string, Answer> = {}) => {
    const all = { "resources/subscribe": () => ({}), "resources/unsubscribe": () => ({}), ...answers };
    const server = announcing(legacyServer(all), subscribable);
    const said = (): string[] =>
      server.received.flatMap((one) =>
        "method" in one && one.method.startsWith("resources/")
          ? [`${one.method.slice("resources/".length)} ${String(one.params?.["uri"])}`]
          : [],
      );
    return { server, said };
  };

  test("is told of a URI once, and when nobody wants it any more", async () => {
    const { server, said } = serving();
    const { connection, clock } = await connected(server);
    await connection.subscribe("x://a");
    await connection.subscribe("x://a");
    await connection.subscribe("x://b");
    connection.unsubscribe("x://a");
    connection.unsubscribe("x://c");
    await connection.subscribe("x://a");
    expect(said()).toEqual(["subscribe x://a", "subscribe x://b", "unsubscribe x://a", "subscribe x://a"]);
    expect(clock.pending).toBe(0);
  });

  test("gets what is said of one URI one after the other: nothing overtakes", async () => {
    const answers: (() => void)[] = [];
    const slow: Answer = () => new Promise((answer) => answers.push(() => answer({})));
    const { server, said } = serving({ "resources/subscribe": slow, "resources/unsubscribe": slow });
    const { connection } = await connected(server);
    void connection.subscribe("x://a");
    connection.unsubscribe("x://a");
    const last = connection.subscribe("x://a");
    await settle();
    expect(said()).toEqual(["subscribe x://a"]);
    for (let n = 0; n < 3; n++) {
      answers[n]!();
      await settle();
    }
    await last;
    expect(said()).toEqual(["subscribe x://a", "unsubscribe x://a", "subscribe x://a"]);
  });

  test("may refuse, or not answer", async () => {
    for (const [code, expected] of [
      [-32002, { code: "NotFound", message: "Resource not found: x://a" }],
      [-32603, { code: "UpstreamError" }],
    ] as const) {
      const { server } = serving({
        "resources/subscribe": () => {
          throw new RpcError(code, "no");
        },
      });
      const { connection } = await connected(server);
      expect(await failure(connection.subscribe("x://a"))).toMatchObject(expected);
    }
    const { server } = serving({ "resources/subscribe": silence });
    const { connection, clock } = await connected(server);
    const outcome = failure(connection.subscribe("x://a"));
    await clock.pass(30_000);
    expect(await outcome).toMatchObject({
      code: "Unavailable",
      message:
        'Upstream "fs" did not answer while changes of x://a were asked for: no answer within 30000 ms.',
    });
  });

  test("is subscribed to anew on a new connection, one by one; what fails is counted", async () => {
    const { server, said } = serving({
      "resources/subscribe"({ uri }) {
        if (uri === "x://b") throw new RpcError(-32002, "gone");
        return {};
      },
    });
    const { connection } = await connected(server);
    expect(await connection.resubscribe(["x://a", "x://b", "x://c"])).toBe(1);
    expect(said()).toEqual(["subscribe x://a", "subscribe x://b", "subscribe x://c"]);
  });

  test("that refuses to unsubscribe is asked no more", async () => {
    const { server, said } = serving();
    delete server.answers["resources/unsubscribe"];
    const { connection } = await connected(server);
    await connection.subscribe("x://a");
    connection.unsubscribe("x://a");
    await settle();
    connection.unsubscribe("x://a");
    await settle();
    expect(said()).toEqual(["subscribe x://a", "unsubscribe x://a"]);
  });
});

describe("a modern server", () => {
  const serving = async (answers: Record<string, Answer> = {}) => {
    const server = announcing(modernServer(answers), subscribable);
    const uris = () =>
      server
        .requests("subscriptions/listen")
        .map(
          ({ params = {} }) =>
            (params["notifications"] as { resourceSubscriptions: string[] }).resourceSubscriptions,
        );
    const withdrawn = () => server.got("notifications/cancelled").map(({ params }) => params?.["requestId"]);
    return { server, uris, withdrawn, ...(await connected(server)) };
  };

  test("is listened to for all URIs together; the new stream stands before the old one goes", async () => {
    const { server, uris, withdrawn, connection } = await serving();
    await connection.subscribe("x://a");
    await connection.subscribe("x://a");
    await connection.subscribe("x://b");
    expect(uris().at(-1)).toEqual(["x://a", "x://b"]);
    const ids = server.requests("subscriptions/listen").map(({ id }) => id);
    expect(withdrawn()).toEqual(ids.slice(0, -1));
    connection.unsubscribe("x://a");
    connection.unsubscribe("x://c");
    await settle();
    expect(uris().at(-1)).toEqual(["x://b"]);
    connection.unsubscribe("x://b");
    await settle();
    expect(withdrawn()).toEqual(server.requests("subscriptions/listen").map(({ id }) => id));
  });

  test("looks through one answer once, however many URIs wait for it", async () => {
    const { server, connection } = await serving();
    const first = connection.subscribe("x://first");
    const all = Array.from({ length: 500 }, (_, n) => `x://${n}`);
    let looks = 0;
    server.answers["subscriptions/listen"] = silence;
    const later = Promise.all(all.map((uri) => connection.subscribe(uri)));
    server.acknowledge();
    await first;
    const honoured = new Proxy([...all], {
      get: (list, key, receiver: unknown) => ((looks += 1), Reflect.get(list, key, receiver) as unknown),
    });
    server.acknowledge(undefined, { resourceSubscriptions: honoured });
    await later;
    expect(looks).toBeLessThan(10_000);
  });

  test("gets two requests for a thousand URIs at once", async () => {
    const { uris, connection } = await serving();
    const all = Array.from({ length: 1_000 }, (_, n) => `x://${n}`);
    await Promise.all(all.map((uri) => connection.subscribe(uri)));
    expect(uris().map(({ length }) => length)).toEqual([1, 1_000]);
  });

  test("that does not honour a URI does not tell of it", async () => {
    for (const honoured of [
      { resourceSubscriptions: ["x://b"] },
      {},
      { resourceSubscriptions: "all" },
      "all",
    ]) {
      const { server, connection } = await serving({
        "subscriptions/listen": (_, { id }) => {
          server.acknowledge(id, honoured);
          return silence();
        },
      });
      expect(await failure(connection.subscribe("x://a"))).toMatchObject({
        code: "Unsupported",
        message: "Changes of x://a are not told by its server.",
      });
    }
  });

  test("may refuse", async () => {
    const { connection } = await serving({
      "subscriptions/listen": () => {
        throw new RpcError(-32603, "Subscription limit reached");
      },
    });
    expect(await failure(connection.subscribe("x://a"))).toMatchObject({
      code: "UpstreamError",
      message: 'Upstream "fs": Subscription limit reached',
    });
  });

  test("is subscribed to anew on a new connection by one request", async () => {
    const { uris, connection } = await serving();
    expect(await connection.resubscribe([])).toBe(0);
    expect(uris()).toEqual([]);
    expect(await connection.resubscribe(["x://a", "x://b"])).toBe(0);
    expect(uris()).toEqual([["x://a", "x://b"]]);
    const refusing = await serving({
      "subscriptions/listen": () => {
        throw new RpcError(-32601, "unknown");
      },
    });
    expect(await refusing.connection.resubscribe(["x://a", "x://b"])).toBe(2);
  });

  test("whose stream breaks may have told of changes that nobody heard", async () => {
    const { server, connection, clock } = await serving();
    const listener = changeListener();
    connection.watch(listener);
    await connection.subscribe("x://a");
    const { id } = server.requests("subscriptions/listen").at(-1)!;
    server.say({ jsonrpc: "2.0", id, result: { resultType: "complete" } });
    await clock.pass(1_000);
    expect(listener.heard).toEqual(["missed"]);
  });

  test("names its stream in the notification, or the transport does", async () => {
    const { server, connection } = await serving({ "subscriptions/listen": silence });
    const told = connection.subscribe("x://a");
    await settle();
    const { id } = server.requests("subscriptions/listen")[0]!;
    const notifications = { resourceSubscriptions: ["x://a"] };
    server.notify("notifications/subscriptions/acknowledged", { notifications }, id);
    await expect(told).resolves.toBeUndefined();
  });

  test("ends its subscriptions with the connection", async () => {
    const { server, connection, clock } = await serving();
    await connection.subscribe("x://a");
    server.die("gone");
    await clock.pass(600_000);
    expect(clock.pending).toBe(0);
    expect(await failure(connection.subscribe("x://b"))).toMatchObject({ code: "Unavailable" });
  });
});

test.each([
  ["legacy", legacyServer],
  ["modern", modernServer],
])("a %s server that announces no subscriptions is not asked for any", async (_era, make) => {
  for (const resources of [undefined, {}, { subscribe: false }]) {
    const server = announcing(make(), { tools: {}, resources });
    const { connection } = await connected(server);
    expect(await failure(connection.subscribe("x://a"))).toMatchObject({
      code: "Unsupported",
      message: 'Upstream "fs" does not tell of changes of its resources.',
    });
    expect(await connection.resubscribe(["x://a", "x://b"])).toBe(2);
    expect(server.got("resources/subscribe")).toEqual([]);
    expect(server.got("subscriptions/listen")).toEqual([]);
  }
});

test("an update is told without what is the protocol's own; one without a URI is none", async () => {
  const server = legacyServer();
  const { connection } = await connected(server);
  const listener = changeListener();
  connection.watch(listener);
  const own = "io.modelcontextprotocol/subscriptionId";
  server.notify("notifications/resources/updated", { uri: "x://a", _meta: { [own]: 4 } });
  server.notify("notifications/resources/updated", {
    uri: "x://b",
    _meta: { [own]: 4, "a/b": 1 },
    title: "t",
  });
  server.notify("notifications/resources/updated", { uri: 7 });
  server.notify("notifications/resources/updated");
  expect(listener.heard).toEqual([{ uri: "x://a" }, { uri: "x://b", title: "t", _meta: { "a/b": 1 } }]);
});
