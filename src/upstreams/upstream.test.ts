import { expect, test, vi } from "vitest";
import { failure } from "../../test/support/connected.ts";
import { settle } from "../../test/support/fakeClock.ts";
import { type FakeServer, legacyServer, modernServer, silence } from "../../test/support/fakeServer.ts";
import { forgetful, started, supervise } from "../../test/support/supervised.ts";
import { Cancellation } from "../core/cancellation.ts";
import { ToolContext } from "../core/context.ts";
import { SessionLost } from "../mcp/client/connect.ts";
import type { Dial } from "../wire/link.ts";
import type { Upstream } from "./upstream.ts";

const call = (upstream: Upstream, ctx = new ToolContext()) => upstream.callTool("read", {}, ctx);
const names = async (upstream: Upstream) => (await upstream.listTools()).map(({ name }) => name);
const tools =
  (...all: string[]) =>
  () => ({ tools: all.map((name) => ({ name, inputSchema: { type: "object" } })) });
const refused = (): FakeServer =>
  Object.assign(legacyServer(), { refuse: new Error("connect ECONNREFUSED") });

test("starts, lists, calls, and says so", async () => {
  for (const [server, era, protocolVersion] of [
    [legacyServer(), "legacy", "2025-11-25"],
    [modernServer(), "modern", "2026-07-28"],
  ] as const) {
    const { upstream, clock, log } = await started(server);
    expect(upstream.status).toEqual({
      namespace: "fs",
      state: "ready",
      since: 0,
      restarts: 0,
      era,
      protocolVersion,
      tools: 1,
    });
    expect(await names(upstream)).toEqual(["read"]);
    expect(await call(upstream)).toMatchObject({ content: [{ text: "done" }] });
    expect(log).toHaveBeenCalledExactlyOnceWith(
      "info",
      `Upstream "fs" is ready: 1 tools, MCP ${protocolVersion}.`,
    );
    await upstream.close();
    expect([clock.pending, server.open]).toEqual([0, 0]);
  }
});

test("starting twice is starting once; a start that fails rejects nowhere", async () => {
  const server = refused();
  const { upstream } = await started(server);
  upstream.start();
  await settle();
  expect(server.dials).toBe(1);
  expect(upstream.status).toMatchObject({
    state: "failed",
    restarts: 0,
    error: 'Upstream "fs" could not be connected: connect ECONNREFUSED',
  });
});

test("tries again after pauses that double up to a minute, and is ready as soon as the server is", async () => {
  const server = refused();
  const { upstream, clock, log } = await started(server);
  const pauses = [1, 2, 4, 8, 16, 32, 60, 60];
  for (const [index, seconds] of pauses.entries()) {
    expect(log.mock.lastCall?.[1]).toContain(`(next try in ${seconds} s)`);
    await clock.pass(seconds * 1_000 - 1);
    expect(server.dials).toBe(index + 1);
    await clock.pass(1);
    expect(server.dials).toBe(index + 2);
  }
  server.refuse = undefined;
  await clock.pass(60_000);
  expect(upstream.status).toMatchObject({ state: "ready", restarts: 9 });
  expect(upstream.status).not.toHaveProperty("error");
});

test("every change of state is told", async () => {
  const states: string[] = [];
  const server = legacyServer();
  const { upstream, clock } = await started(server, {
    onStatus: ({ state, tools: n }) => states.push(`${state} ${n ?? "-"}`),
  });
  server.die("exited with code 1");
  await settle();
  await clock.pass(1_000);
  await upstream.close();
  expect(states).toEqual(["starting -", "ready 1", "failed 1", "starting 1", "ready 1", "closed 1"]);
});

test("while a server is away its last good list stays, and calls say why they fail", async () => {
  const server = legacyServer();
  const { upstream } = await started(server);
  const changed = vi.fn<() => void>();
  upstream.watch(changed);
  server.refuse = new Error("ENOENT");
  server.die("exited with code 1; its last words: boom");
  await settle();
  expect(await names(upstream)).toEqual(["read"]);
  expect(await failure(call(upstream))).toMatchObject({
    code: "Unavailable",
    message: 'Upstream "fs" went away: exited with code 1; its last words: boom',
  });
  expect(changed).not.toHaveBeenCalled();
  expect(server.open).toBe(0);
});

test("a server that dies again and again gets growing pauses; one that was stable begins anew", async () => {
  const server = legacyServer();
  const { clock, log } = await started(server);
  const nextPause = (): unknown =>
    log.mock.calls.findLast(([, text]) => String(text).includes("next try"))?.[1];
  for (const seconds of [1, 2, 4]) {
    server.die("crash");
    await settle();
    expect(nextPause()).toContain(`(next try in ${seconds} s)`);
    await clock.pass(seconds * 1_000);
  }
  await clock.pass(60_000);
  server.die("crash");
  await settle();
  expect(nextPause()).toContain("(next try in 1 s)");
});

test("a call makes a failed server be tried at once, but not more than once a second", async () => {
  const server = refused();
  const { upstream, clock } = await started(server);
  await clock.pass(1_500);
  expect(server.dials).toBe(2);
  expect(await failure(call(upstream))).toMatchObject({ message: expect.stringContaining("ECONNREFUSED") });
  expect(server.dials).toBe(2);
  await clock.pass(600);
  server.refuse = undefined;
  expect(await Promise.all([call(upstream), call(upstream)])).toHaveLength(2);
  expect(server.dials).toBe(3);
});

test("a call waits for a server that starts, unless its caller goes", async () => {
  let answer!: () => void;
  const slow = new Promise<void>((resolve) => (answer = resolve));
  const initialize = legacyServer().answers["initialize"]!;
  const server = legacyServer({ initialize: (...args) => slow.then(() => initialize(...args)) });
  const { upstream } = supervise(server);
  upstream.start();
  const cancellation = new Cancellation();
  const impatient = failure(call(upstream, new ToolContext({ cancellation })));
  const patient = call(upstream);
  cancellation.cancel("gone");
  expect(await impatient).toMatchObject({ code: "Cancelled" });
  answer();
  expect(await patient).toMatchObject({ content: [{ text: "done" }] });
});

test("a first list waits for a slow server as long as the grace lasts, from the start on", async () => {
  const server = legacyServer({ "server/discover": silence, initialize: silence });
  const { upstream, clock } = supervise(server, { graceMs: 5_000 });
  upstream.start();
  await clock.pass(4_000);
  const listing = failure(upstream.listTools());
  await clock.pass(999);
  expect(await Promise.race([listing, settle().then(() => "waits")])).toBe("waits");
  await clock.pass(1);
  const starting = {
    code: "Unavailable",
    message: 'Upstream "fs" is still starting. Try again in a moment.',
  };
  expect(await listing).toMatchObject(starting);
  expect(await failure(upstream.listTools())).toMatchObject(starting);
  await clock.pass(25_000);
  expect(await failure(upstream.listTools())).toMatchObject({
    code: "Unavailable",
    message: 'Upstream "fs" could not be connected: it did not finish its handshake within 30000 ms',
  });
  expect(server.open).toBe(0);
});

test("a server whose list cannot be read is not ready", async () => {
  const server = legacyServer({ "tools/list": silence });
  const { upstream, clock } = supervise(server, { listMs: 2_000 });
  upstream.start();
  await clock.pass(2_000);
  expect(upstream.status).toMatchObject({
    state: "failed",
    error: expect.stringContaining("not within 2000 ms"),
  });
  expect(server.open).toBe(0);
});

test("a changed list is read again, and told only where it really differs", async () => {
  const server = legacyServer();
  const { upstream, clock } = await started(server);
  const changed = vi.fn<(kind: string) => void>();
  upstream.watch(changed);
  server.notify("notifications/tools/list_changed");
  await clock.pass(1_000);
  expect(server.got("tools/list")).toHaveLength(2);
  expect(changed).not.toHaveBeenCalled();
  server.answers["tools/list"] = tools("a", "b");
  server.notify("notifications/tools/list_changed");
  await settle();
  expect(changed).toHaveBeenCalledExactlyOnceWith("tools");
  expect(await names(upstream)).toEqual(["a", "b"]);
  expect(upstream.status.tools).toBe(2);
});

test("a flood of list changes costs one list a second", async () => {
  const server = legacyServer();
  const { clock } = await started(server);
  for (let n = 0; n < 1_000; n++) server.notify("notifications/tools/list_changed");
  await settle();
  expect(server.got("tools/list")).toHaveLength(2);
  await clock.pass(999);
  expect(server.got("tools/list")).toHaveLength(2);
  await clock.pass(1);
  expect(server.got("tools/list")).toHaveLength(3);
  await clock.pass(10_000);
  expect(server.got("tools/list")).toHaveLength(3);
});

test("a list that changes while it is first read is read again", async () => {
  const server = legacyServer();
  server.answers["tools/list"] = () => {
    server.answers["tools/list"] = tools("new");
    server.notify("notifications/tools/list_changed");
    return tools("old")();
  };
  const { upstream } = await started(server);
  await settle();
  expect(await names(upstream)).toEqual(["new"]);
});

test("a list that cannot be read again leaves the last good one", async () => {
  const server = legacyServer();
  const { upstream, log } = await started(server);
  server.answers["tools/list"] = () => ({ tools: "broken" });
  server.notify("notifications/tools/list_changed");
  await settle();
  expect(await names(upstream)).toEqual(["read"]);
  expect(upstream.status.state).toBe("ready");
  expect(log.mock.lastCall?.[1]).toContain("the last good list stays");
});

test("after a restart the list is read again, and a difference told", async () => {
  const server = legacyServer();
  const { upstream, clock } = await started(server);
  const changed = vi.fn<() => void>();
  upstream.watch(changed);
  server.die("crash");
  await settle();
  await clock.pass(1_000);
  expect(changed).not.toHaveBeenCalled();
  server.answers["tools/list"] = tools("other");
  server.die("crash");
  await settle();
  await clock.pass(2_000);
  expect(changed).toHaveBeenCalledOnce();
  expect(await names(upstream)).toEqual(["other"]);
});

test("a lost session is begun anew, once for all calls that notice, and each call is made again", async () => {
  const server = legacyServer();
  const { dial, forget } = forgetful(server);
  const { upstream } = await started(server, { dial });
  forget();
  expect(await Promise.all([call(upstream), call(upstream), call(upstream)])).toHaveLength(3);
  expect(server.got("initialize")).toHaveLength(2);
  expect(server.got("tools/call")).toHaveLength(3);
  expect(server.open).toBe(1);
});

test("a session that is lost again at once is an error, not a loop", async () => {
  const server = legacyServer();
  const lost = vi.fn<() => void>();
  const dial: Dial = async (events) => {
    const link = await server.dial(events);
    return {
      ...link,
      send(message, extra) {
        if (!("method" in message) || message.method !== "tools/call") return link.send(message, extra);
        lost();
        throw new SessionLost("HTTP 404");
      },
    };
  };
  const { upstream } = await started(server, { dial });
  expect(await failure(call(upstream))).toMatchObject({
    code: "Unavailable",
    message: 'Upstream "fs" keeps losing its session: HTTP 404',
  });
  expect(lost).toHaveBeenCalledTimes(2);
});

test("a lost session shows when the list is read again, too", async () => {
  const server = legacyServer();
  const { dial, forget } = forgetful(server);
  const { upstream } = await started(server, { dial });
  forget();
  server.notify("notifications/tools/list_changed");
  await settle();
  expect(server.got("initialize")).toHaveLength(2);
  expect(upstream.status.state).toBe("ready");
});

test("a call that may have run is never made again", async () => {
  const server = legacyServer({
    "tools/call": () => {
      server.die("crash in the middle");
      return silence();
    },
  });
  const { upstream, clock } = await started(server);
  expect(await failure(call(upstream))).toMatchObject({
    code: "Unavailable",
    message: expect.stringContaining("crash in the middle"),
  });
  await clock.pass(60_000);
  expect(server.got("tools/call")).toHaveLength(1);
});

test("closing ends a start that hangs, calls in flight and all timers; later uses are refused", async () => {
  const hanging = supervise(legacyServer({ "server/discover": silence, initialize: silence }));
  hanging.upstream.start();
  const waiting = failure(call(hanging.upstream));
  await settle();
  await hanging.upstream.close();
  expect(await waiting).toMatchObject({ code: "Unavailable", message: 'Upstream "fs" is closed.' });

  const listing = supervise(legacyServer({ "tools/list": silence }));
  listing.upstream.start();
  await settle();
  await listing.upstream.close();

  const server = legacyServer({ "tools/call": silence });
  const running = await started(server);
  const inFlight = failure(call(running.upstream));
  await settle();
  await running.upstream.close();
  await running.upstream.close();
  expect(await inFlight).toMatchObject({ code: "Unavailable" });
  expect(await failure(running.upstream.listTools())).toMatchObject({ message: 'Upstream "fs" is closed.' });
  expect(await failure(call(running.upstream))).toMatchObject({ message: 'Upstream "fs" is closed.' });

  const failed = await started(refused());
  await failed.upstream.close();
  for (const { clock, upstream } of [hanging, listing, running, failed]) {
    await clock.pass(600_000);
    expect(clock.pending).toBe(0);
    expect(upstream.status.state).toBe("closed");
  }
  expect(server.open).toBe(0);
});

test("facts come from the configuration", () => {
  const { upstream } = supervise(legacyServer(), { validateArguments: true, timeoutMs: 7 });
  expect(upstream.facts()).toEqual({ validation: "upstream-checked", timeoutMs: 7 });
});
