import { describe, expect, test, vi } from "vitest";
import { settle } from "../../test/support/fakeClock.ts";
import {
  announcing,
  legacyServer,
  modernServer,
  silence,
  type Answer,
} from "../../test/support/fakeServer.ts";
import { forgetful, started, supervise } from "../../test/support/supervised.ts";
import type { JsonObject } from "../core/json.ts";
import type { ListKind } from "../core/provider.ts";
import { RpcError } from "../wire/jsonrpc.ts";

const told = { listChanged: true };
const everything = { tools: told, prompts: told, resources: told };
const answers: Record<string, Answer> = {
  "prompts/list": () => ({ prompts: [{ name: "p" }] }),
  "resources/list": () => ({ resources: [{ uri: "x://r", name: "r" }] }),
  "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "x://{t}", name: "t" }] }),
};
const methods = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
const full = (capabilities: JsonObject = everything, make = legacyServer) =>
  announcing(make(answers), capabilities);

test.each([
  ["legacy", legacyServer],
  ["modern", modernServer],
])("a %s server's lists are all there as soon as it is ready, and asked for once", async (_era, make) => {
  const server = full(everything, make);
  const { upstream } = await started(server);
  expect(await upstream.prompts.listPrompts()).toEqual([{ name: "p" }]);
  expect(await upstream.resources.listResources()).toEqual([{ uri: "x://r", name: "r" }]);
  expect(await upstream.resources.listResourceTemplates()).toEqual([{ uriTemplate: "x://{t}", name: "t" }]);
  expect(methods.map((method) => server.got(method).length)).toEqual([1, 1, 1, 1]);
});

test("nothing is asked for that the server does not announce, but tools", async () => {
  const server = full({});
  const { upstream } = await started(server);
  expect(await upstream.prompts.listPrompts()).toEqual([]);
  expect(await upstream.resources.listResources()).toEqual([]);
  expect(methods.map((method) => server.got(method).length)).toEqual([1, 0, 0, 0]);
});

test("within the grace nobody gets half of a list: the server is ready when all are known", async () => {
  let answer!: () => void;
  const slow = new Promise<void>((resolve) => (answer = resolve));
  const server = full();
  server.answers["prompts/list"] = () => slow.then(() => ({ prompts: [{ name: "late" }] }));
  const { upstream } = supervise(server);
  upstream.start();
  await settle();
  const lists = Promise.all([upstream.prompts.listPrompts(), upstream.resources.listResources()]);
  expect(upstream.status.state).toBe("starting");
  answer();
  expect(await lists).toMatchObject([[{ name: "late" }], [{ uri: "x://r" }]]);
});

test("a list beside the tools that cannot be read keeps nobody from the rest, and is tried again", async () => {
  const server = full();
  server.answers["prompts/list"] = () => {
    throw new RpcError(-32603, "not today");
  };
  const { upstream, clock, log } = await started(server);
  expect(upstream.status.state).toBe("ready");
  expect(log).toHaveBeenCalledWith(
    "warning",
    expect.stringMatching(/^Upstream "fs" cannot list its prompts: .*not today/),
  );
  server.answers["prompts/list"] = answers["prompts/list"]!;
  expect(await upstream.prompts.listPrompts()).toEqual([]);
  upstream.touch("prompts");
  await settle();
  expect(await upstream.prompts.listPrompts()).toEqual([{ name: "p" }]);
  await upstream.close();
  expect(clock.pending).toBe(0);
});

test("each kind that changes is read again alone, and told only where it differs", async () => {
  const server = full();
  const { upstream, clock } = await started(server);
  const changed = vi.fn<(kind: ListKind) => void>();
  const leave = upstream.watch(changed);
  for (const kind of ["tools", "prompts", "resources"]) server.notify(`notifications/${kind}/list_changed`);
  await clock.pass(1_000);
  expect(methods.map((method) => server.got(method).length)).toEqual([2, 2, 2, 2]);
  expect(changed).not.toHaveBeenCalled();
  server.answers["resources/templates/list"] = () => ({ resourceTemplates: [] });
  server.notify("notifications/resources/list_changed");
  await clock.pass(1_000);
  expect(methods.map((method) => server.got(method).length)).toEqual([2, 2, 3, 3]);
  expect(changed).toHaveBeenCalledExactlyOnceWith("resources");
  leave();
  server.answers["prompts/list"] = () => ({ prompts: [] });
  server.notify("notifications/prompts/list_changed");
  await clock.pass(1_000);
  expect(changed).toHaveBeenCalledOnce();
  expect(await upstream.prompts.listPrompts()).toEqual([]);
});

test("while a server is away its last good lists stay; when it is back the difference is told", async () => {
  const server = full();
  const { upstream, clock } = await started(server);
  const changed = vi.fn<(kind: ListKind) => void>();
  upstream.watch(changed);
  server.refuse = new Error("ENOENT");
  server.die("crash");
  await settle();
  expect(await upstream.prompts.listPrompts()).toEqual([{ name: "p" }]);
  expect(await upstream.resources.listResources()).toHaveLength(1);
  expect(await upstream.info()).toEqual({ capabilities: everything });
  server.refuse = undefined;
  server.answers["prompts/list"] = () => ({ prompts: [{ name: "q" }] });
  await clock.pass(3_000);
  expect(changed.mock.calls).toEqual([["prompts"]]);
});

describe("a list that has grown old is read again when somebody asks for it, who still gets the old one", () => {
  const ageing = async (capabilities: JsonObject, ttlMs?: number) => {
    const server = full(capabilities, modernServer);
    let n = 0;
    server.answers["prompts/list"] = () => ({ prompts: [{ name: `p${++n}` }], ttlMs });
    const all = await started(server);
    const names = async (): Promise<unknown> => {
      const prompts = await all.upstream.prompts.listPrompts();
      all.upstream.touch("prompts");
      await settle();
      return prompts[0]?.["name"];
    };
    return { ...all, names };
  };

  test("as old as the server says", async () => {
    const { names, clock } = await ageing(everything, 5_000);
    await clock.pass(4_999);
    expect([await names(), await names()]).toEqual(["p1", "p1"]);
    await clock.pass(1);
    expect([await names(), await names()]).toEqual(["p1", "p2"]);
    await clock.pass(600_000);
    expect([await names(), await names()]).toEqual(["p2", "p3"]);
  });

  test("30 s where it says nothing and tells no changes, never where it tells them", async () => {
    for (const ttlMs of [undefined, 0]) {
      const silent = await ageing({ tools: told, prompts: {} }, ttlMs);
      await silent.clock.pass(29_999);
      expect([await silent.names(), await silent.names()]).toEqual(["p1", "p1"]);
      await silent.clock.pass(1);
      expect([await silent.names(), await silent.names()]).toEqual(["p1", "p2"]);
      const telling = await ageing(everything, ttlMs);
      await telling.clock.pass(600_000);
      expect([await telling.names(), await telling.names()]).toEqual(["p1", "p1"]);
    }
  });

  test("not more than once a pause, whatever the server says, and not while it is away", async () => {
    const { names, clock, upstream } = await ageing(everything, 1);
    const seen: unknown[] = [];
    for (let n = 0; n < 10; n++) {
      await clock.pass(100);
      seen.push(await names());
    }
    expect(seen.at(-1)).toBe("p2");
    await upstream.close();
    expect(clock.pending).toBe(0);
  });
});

test("a lost session shows when any list is read again", async () => {
  const server = full();
  const { dial, forget } = forgetful(server);
  const { upstream } = await started(server, { dial });
  forget();
  server.notify("notifications/prompts/list_changed");
  await settle();
  expect(server.got("initialize")).toHaveLength(2);
  expect(upstream.status.state).toBe("ready");
});

test("what a server says of itself is waited for as long as the grace lasts", async () => {
  const server = full();
  const { upstream } = supervise(server);
  upstream.start();
  expect(await upstream.info()).toEqual({ capabilities: everything });
  const hanging = supervise(legacyServer({ "server/discover": silence, initialize: silence }));
  hanging.upstream.start();
  const info = hanging.upstream.info();
  await hanging.clock.pass(5_000);
  expect(await info).toEqual({ capabilities: {} });
});
