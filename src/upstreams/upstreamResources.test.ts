import { describe, expect, test } from "vitest";
import { failure } from "../../test/support/connected.ts";
import { settle } from "../../test/support/fakeClock.ts";
import {
  announcing,
  legacyServer,
  modernServer,
  silence,
  type FakeServer,
} from "../../test/support/fakeServer.ts";
import { forgetful, started, supervise } from "../../test/support/supervised.ts";
import { Cancellation } from "../core/cancellation.ts";
import { ToolContext } from "../core/context.ts";
import type { JsonObject } from "../core/json.ts";
import type { CompletionRequest } from "../core/provider.ts";
import { Subscriptions } from "./subscriptions.ts";
import type { Upstream } from "./upstream.ts";

const capabilities = { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {} };
const answers = {
  "prompts/list": () => ({ prompts: [{ name: "p" }] }),
  "prompts/get": () => ({ messages: [] }),
  "resources/read": () => ({ contents: [] }),
  "resources/subscribe": () => ({}),
  "resources/unsubscribe": () => ({}),
  "completion/complete": () => ({ completion: { values: [] } }),
};
const full = (make = legacyServer): FakeServer => announcing(make(answers), capabilities);
const ctx = new ToolContext();
const request: CompletionRequest = {
  ref: { type: "ref/prompt", name: "p" },
  argument: { name: "a", value: "" },
};
const kinds: readonly [string, (upstream: Upstream, ctx: ToolContext) => Promise<unknown>][] = [
  ["resources/read", (upstream, of) => upstream.resources.readResource("x://a", of)],
  ["prompts/get", (upstream, of) => upstream.prompts.getPrompt("p", {}, of)],
  ["completion/complete", (upstream, of) => upstream.complete(request, of)],
];

describe.each(kinds)("%s", (method, ask) => {
  test("waits for a server that starts, unless its caller goes", async () => {
    const { upstream } = supervise(full());
    upstream.start();
    const cancellation = new Cancellation();
    const impatient = failure(ask(upstream, new ToolContext({ cancellation })));
    const patient = ask(upstream, ctx);
    cancellation.cancel("gone");
    expect(await impatient).toMatchObject({ code: "Cancelled" });
    await expect(patient).resolves.toBeDefined();
  });

  test("is made again in a new session where the old one is lost", async () => {
    const server = full();
    const { dial, forget } = forgetful(server);
    const { upstream } = await started(server, { dial });
    forget();
    await expect(ask(upstream, ctx)).resolves.toBeDefined();
    expect([server.got("initialize").length, server.got(method).length]).toEqual([2, 1]);
  });

  test("fails while the server is away, and says why", async () => {
    const server = full();
    const { upstream } = await started(server);
    server.refuse = new Error("ENOENT");
    server.die("exited with code 1");
    await settle();
    expect(await failure(ask(upstream, ctx))).toMatchObject({
      code: "Unavailable",
      message: 'Upstream "fs" went away: exited with code 1',
    });
  });
});

test("a prompt that is on no list is not there, and the server is not asked", async () => {
  const server = full();
  const { upstream } = await started(server);
  expect(await failure(upstream.prompts.getPrompt("q", {}, ctx))).toMatchObject({
    code: "NotFound",
    message: "Unknown prompt: q",
  });
  expect(server.got("prompts/get")).toEqual([]);
});

interface Heard {
  readonly heard: JsonObject[];
  readonly cancellation: Cancellation;
}

/** Subscribes, and keeps what is heard. */
async function subscribe(upstream: Upstream, uri: string): Promise<Heard> {
  const heard: JsonObject[] = [];
  const cancellation = new Cancellation();
  await upstream.resources.subscribe!(uri, { updated: (params) => heard.push(params), cancellation }, ctx);
  return { heard, cancellation };
}

const update = (server: FakeServer, uri: string): void =>
  server.notify("notifications/resources/updated", { uri });

describe.each([
  ["legacy", legacyServer],
  ["modern", modernServer],
])("a subscription at a %s server", (_era, make) => {
  test("is one for all who want to know, until the last has gone", async () => {
    const server = full(make);
    const { upstream } = await started(server);
    const [first, second] = [await subscribe(upstream, "x://a"), await subscribe(upstream, "x://a")];
    update(server, "x://a");
    first.cancellation.cancel("enough");
    update(server, "x://a");
    expect([first.heard, second.heard]).toEqual([[{ uri: "x://a" }], [{ uri: "x://a" }, { uri: "x://a" }]]);
    const ends = () =>
      server.got(make === legacyServer ? "resources/unsubscribe" : "notifications/cancelled");
    expect(ends()).toEqual([]);
    second.cancellation.cancel("enough");
    await settle();
    expect(ends()).toHaveLength(1);
    update(server, "x://a");
    expect(second.heard).toHaveLength(2);
  });

  test("outlives the connection: it is made again, and its subscriber hears that it may have missed something", async () => {
    const server = full(make);
    const { upstream, clock } = await started(server);
    const subscribed = await Promise.all(["x://a", "x://b"].map((uri) => subscribe(upstream, uri)));
    server.die("crash");
    await settle();
    await clock.pass(1_000);
    expect(subscribed.map(({ heard }) => heard)).toEqual([[{ uri: "x://a" }], [{ uri: "x://b" }]]);
    update(server, "x://b");
    expect(subscribed.map(({ heard }) => heard.length)).toEqual([1, 2]);
  });

  test("waits for a server that starts", async () => {
    const { upstream } = supervise(full(make));
    upstream.start();
    const { heard } = await subscribe(upstream, "x://a");
    await settle();
    expect(heard).toEqual([]);
  });
});

test("one that ended while the server was away is not made again", async () => {
  const server = full();
  const { upstream, clock } = await started(server);
  const [kept, ended] = [await subscribe(upstream, "x://a"), await subscribe(upstream, "x://b")];
  server.die("crash");
  await settle();
  ended.cancellation.cancel("enough");
  await clock.pass(1_000);
  const uris = server.got("resources/subscribe").map(({ params }) => params?.["uri"]);
  expect(uris).toEqual(["x://a", "x://b", "x://a"]);
  expect([kept.heard.length, ended.heard.length]).toEqual([1, 0]);
});

test("a server that does not tell of changes any more is named in the log; its subscribers hear once", async () => {
  const server = full();
  const { upstream, clock, log } = await started(server);
  const { heard } = await subscribe(upstream, "x://a");
  announcing(server, { tools: {}, resources: {} });
  server.die("crash");
  await settle();
  await clock.pass(1_000);
  expect(heard).toEqual([{ uri: "x://a" }]);
  expect(log).toHaveBeenCalledWith(
    "warning",
    'Upstream "fs" does not tell of changes of 1 resources any more.',
  );
});

test("where none can be made, nobody is left subscribed", async () => {
  const server = announcing(legacyServer(answers), { tools: {}, resources: {} });
  const { upstream } = await started(server);
  for (let n = 0; n < 2; n++)
    expect(await failure(subscribe(upstream, "x://a"))).toMatchObject({
      code: "Unsupported",
      message: 'Upstream "fs" does not tell of changes of its resources.',
    });
  expect(server.got("resources/subscribe")).toEqual([]);
});

test("who has gone already, or goes while it begins, hears nothing", async () => {
  let answer!: () => void;
  const server = full();
  server.answers["resources/subscribe"] = () => new Promise((resolve) => (answer = () => resolve({})));
  const { upstream } = await started(server);
  const cancellation = new Cancellation();
  const heard: unknown[] = [];
  const subscriber = { updated: (params: JsonObject) => heard.push(params), cancellation };
  const begun = upstream.resources.subscribe!("x://a", subscriber, ctx);
  await settle();
  cancellation.cancel("gone");
  await upstream.resources.subscribe!("x://a", subscriber, ctx);
  answer();
  await begun;
  await settle();
  update(server, "x://a");
  expect([heard, server.got("resources/unsubscribe").length]).toEqual([[], 1]);
});

test("a subscriber that goes while the server starts does not fail another's", async () => {
  const { upstream } = supervise(full());
  upstream.start();
  const cancellation = new Cancellation();
  const gone = upstream.resources.subscribe!("x://a", { updated: () => {}, cancellation }, ctx);
  const stays = subscribe(upstream, "x://a");
  cancellation.cancel("gone");
  await expect(stays).resolves.toBeDefined();
  await gone;
});

test("an update of a part is told to those who subscribed to the whole, of anything else to nobody", async () => {
  const server = full();
  const { upstream } = await started(server);
  const uris = ["x://a", "x://a/b", "x://a/b/", "x://ab", "y://"];
  const subscribed = await Promise.all(uris.map((uri) => subscribe(upstream, uri)));
  const heardBy = (uri: string): string[] => {
    update(server, uri);
    return uris.filter((_, at) => subscribed[at]!.heard.splice(0).length > 0);
  };
  expect(heardBy("x://a/b")).toEqual(["x://a/b"]);
  expect(heardBy("x://a/b/c")).toEqual(["x://a", "x://a/b", "x://a/b/"]);
  expect(heardBy("x://a/c")).toEqual(["x://a"]);
  expect(heardBy("x://abc")).toEqual([]);
  expect(heardBy("y://z")).toEqual(["y://"]);
  expect(heardBy("z://")).toEqual([]);
  expect(heardBy("")).toEqual([]);
});

test("there is a bound to what is subscribed to", async () => {
  const ended: string[] = [];
  const subscriptions = new Subscriptions({
    namespace: "fs",
    log: () => {},
    maxUris: 2,
    begin: async () => {},
    end: (uri) => ended.push(uri),
  });
  const first = new Cancellation();
  const add = (uri: string, cancellation = new Cancellation()) =>
    subscriptions.subscribe(uri, { updated: () => {}, cancellation });
  await add("a", first);
  await add("b");
  await add("b");
  expect(await failure(add("c"))).toMatchObject({
    code: "TooManyRequests",
    message: 'Upstream "fs" has 2 resources subscribed to. Unsubscribe from some first.',
  });
  first.cancel("enough");
  await add("c");
  expect(ended).toEqual(["a"]);
});

test("who holds as much as one principal may leaves room for others", async () => {
  const subscriptions = new Subscriptions({
    namespace: "fs",
    log: () => {},
    begin: async () => {},
    end() {},
  });
  const add = (uri: string) =>
    subscriptions.subscribe(uri, { updated: () => {}, cancellation: new Cancellation() });
  for (let n = 0; n < 10_000; n++) await add(`a:${n}`);
  await expect(add("b")).resolves.toBeUndefined();
});

test("closing ends a subscription that has not begun", async () => {
  const server = full();
  server.answers["resources/subscribe"] = silence;
  const { upstream, clock } = await started(server);
  const outcome = failure(subscribe(upstream, "x://a"));
  await settle();
  await upstream.close();
  expect(await outcome).toMatchObject({ code: "Unavailable" });
  expect(clock.pending).toBe(0);
});
