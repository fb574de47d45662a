import { expect, test } from "vitest";
import { failure } from "../../test/support/connected.ts";
import { settle } from "../../test/support/fakeClock.ts";
import { announcing, legacyServer, silence, type FakeServer } from "../../test/support/fakeServer.ts";
import { upstreamOptions } from "../../test/support/supervised.ts";
import { Cancellation } from "../core/cancellation.ts";
import { ToolContext } from "../core/context.ts";
import type { JsonObject } from "../core/json.ts";
import { IsolatedUpstream, type IsolatedUpstreamOptions } from "./isolatedUpstream.ts";

const capabilities = { tools: { listChanged: true }, prompts: {}, resources: { subscribe: true } };
const serverOf = (): FakeServer =>
  announcing(
    legacyServer({
      "prompts/list": () => ({ prompts: [{ name: "p" }] }),
      "prompts/get": () => ({ messages: [] }),
      "resources/list": () => ({ resources: [{ uri: "x://a", name: "a" }] }),
      "resources/templates/list": () => ({ resourceTemplates: [] }),
      "resources/read": () => ({ contents: [] }),
      "resources/subscribe": () => ({}),
      "resources/unsubscribe": () => ({}),
      "completion/complete": () => ({ completion: { values: [] } }),
    }),
    capabilities,
  );

async function isolated(options: Partial<IsolatedUpstreamOptions> = {}) {
  const server = serverOf();
  const all = upstreamOptions(server, options);
  const upstream = new IsolatedUpstream({ ...options, ...all });
  upstream.start();
  await upstream.settled();
  return { server, upstream, clock: all.clock, log: all.log };
}

const of = (id: string, cancellation = new Cancellation()) =>
  new ToolContext({ principal: { id }, cancellation });

test("each principal has one connection of its own for whatever it does; lists come from another", async () => {
  const { server, upstream } = await isolated();
  expect(server.dials).toBe(1);
  await upstream.callTool("read", {}, of("ada"));
  expect(server.dials).toBe(2);
  await upstream.resources.readResource("x://a", of("ada"));
  await upstream.prompts.getPrompt("p", {}, of("ada"));
  await upstream.complete(
    { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } },
    of("ada"),
  );
  await upstream.resources.subscribe!(
    "x://a",
    { updated: () => {}, cancellation: new Cancellation() },
    of("ada"),
  );
  expect(server.dials).toBe(2);
  await upstream.callTool("read", {}, of("bob"));
  expect(server.dials).toBe(3);
  expect((await upstream.listTools()).map(({ name }) => name)).toEqual(["read"]);
  expect(await upstream.prompts.listPrompts()).toEqual([{ name: "p" }]);
  expect(await upstream.resources.listResources()).toHaveLength(1);
  expect(await upstream.resources.listResourceTemplates()).toEqual([]);
  expect(await upstream.info()).toEqual({ capabilities });
  expect(upstream.facts()).toEqual({ validation: "upstream" });
  expect(server.dials).toBe(3);
});

test("what a principal's server tells reaches that principal alone", async () => {
  const { server, upstream } = await isolated();
  const heard: [string, JsonObject][] = [];
  for (const who of ["ada", "bob"])
    await upstream.resources.subscribe!(
      "x://a",
      { updated: (params) => heard.push([who, params]), cancellation: new Cancellation() },
      of(who),
    );
  // The last connection is bob's.
  server.notify("notifications/resources/updated", { uri: "x://a" });
  expect(heard).toEqual([["bob", { uri: "x://a" }]]);
});

test("its state is that of the connection that all share, and so are its changes", async () => {
  const { server, upstream, clock } = await isolated();
  const kinds: string[] = [];
  const leave = upstream.watch((kind) => kinds.push(kind));
  expect(upstream.status).toMatchObject({ namespace: "fs", state: "ready", tools: 1 });
  server.answers["tools/list"] = () => ({ tools: [] });
  server.notify("notifications/tools/list_changed");
  await settle();
  expect(kinds).toEqual(["tools"]);
  leave();
  await upstream.callTool("read", {}, of("ada")).catch(() => {});
  server.die("crash");
  await settle();
  expect(upstream.status.state).toBe("ready");
  await upstream.close();
  expect(clock.pending).toBe(0);
});

test("the log says whose connection it is about", async () => {
  const { upstream, log } = await isolated();
  await upstream.callTool("read", {}, of("ada"));
  expect(log.mock.calls.map(([, , fields]) => fields)).toEqual([undefined, { principal: "ada" }]);
});

test("a connection that nobody uses is closed; its principal gets another", async () => {
  const { server, upstream, clock } = await isolated({ idleMs: 1_000 });
  await upstream.callTool("read", {}, of("ada"));
  await clock.pass(999);
  await upstream.callTool("read", {}, of("ada"));
  await clock.pass(999);
  expect(server.open).toBe(2);
  await clock.pass(1);
  expect(server.open).toBe(1);
  await upstream.callTool("read", {}, of("ada"));
  expect([server.open, server.dials]).toEqual([2, 3]);
});

test("a connection with a call in flight or a subscription stays", async () => {
  const { server, upstream, clock } = await isolated({ idleMs: 1_000 });
  let answer!: () => void;
  server.answers["tools/call"] = () => new Promise((resolve) => (answer = () => resolve({ content: [] })));
  const call = upstream.callTool("read", {}, of("ada"));
  const cancellation = new Cancellation();
  await upstream.resources.subscribe!("x://a", { updated: () => {}, cancellation }, of("ada"));
  await clock.pass(600_000);
  answer();
  await call;
  await clock.pass(600_000);
  expect(server.open).toBe(2);
  cancellation.cancel("enough");
  await clock.pass(1_000);
  expect(server.open).toBe(1);
});

test("a subscription that cannot be made keeps nothing", async () => {
  const { server, upstream, clock } = await isolated({ idleMs: 1_000 });
  delete server.answers["resources/subscribe"];
  const subscriber = { updated: () => {}, cancellation: new Cancellation() };
  expect(await failure(upstream.resources.subscribe!("x://a", subscriber, of("ada")))).toMatchObject({
    code: "UpstreamError",
  });
  await clock.pass(1_000);
  expect(server.open).toBe(1);
});

test("there is a bound to how many principals have a connection, and room again once one is closed", async () => {
  const { server, upstream, clock } = await isolated({ maxPrincipals: 2, idleMs: 1_000 });
  await upstream.callTool("read", {}, of("ada"));
  await upstream.callTool("read", {}, of("bob"));
  expect(await failure(upstream.callTool("read", {}, of("eve")))).toMatchObject({
    code: "TooManyRequests",
    message:
      'Upstream "fs" has a connection for each of 2 principals, and no more are opened. Try again later.',
  });
  await upstream.callTool("read", {}, of("ada"));
  await clock.pass(1_000);
  await upstream.callTool("read", {}, of("eve"));
  expect(server.open).toBe(2);
});

test("closing ends all connections and calls; later uses are refused", async () => {
  const { server, upstream, clock } = await isolated();
  const cancellation = new Cancellation();
  await upstream.resources.subscribe!("x://a", { updated: () => {}, cancellation }, of("bob"));
  server.answers["tools/call"] = silence;
  const inFlight = failure(upstream.callTool("read", {}, of("ada")));
  await settle();
  await upstream.close();
  await upstream.close();
  cancellation.cancel("late");
  expect(await inFlight).toMatchObject({ code: "Unavailable" });
  expect(await failure(upstream.callTool("read", {}, of("ada")))).toMatchObject({
    code: "Unavailable",
    message: 'Upstream "fs" is closed.',
  });
  expect([server.open, clock.pending]).toEqual([0, 0]);
});
