import { expect, test, vi } from "vitest";
import { FakeClock, settle } from "../../../test/support/fakeClock.ts";
import { type FakeServer, legacyServer, modernServer, silence } from "../../../test/support/fakeServer.ts";
import { Cancellation } from "../../core/cancellation.ts";
import { HttpError } from "../../transports/http/dial.ts";
import { RpcError } from "../../wire/jsonrpc.ts";
import { connectUpstream, type ConnectOptions, type EraCache } from "./connect.ts";

function setUp(server: FakeServer, options: Partial<ConnectOptions> = {}) {
  const clock = new FakeClock();
  const connect = () =>
    connectUpstream({
      namespace: "fs",
      dial: server.dial,
      clock,
      log: () => {},
      clientInfo: { name: "toolgate", version: "9" },
      ...options,
    });
  return { clock, connect };
}

const methods = (server: FakeServer) =>
  server.received.map((one) => ("method" in one ? one.method : "answer"));
const refuseDiscover = (code: number, data?: unknown) => ({
  "server/discover": () => {
    throw new RpcError(code, "refused", { data });
  },
});

test("a modern server: one discover, no session, its own words kept", async () => {
  const server = modernServer();
  const { connect, clock } = setUp(server);
  const { terms } = await connect();
  expect(terms).toEqual({
    era: "modern",
    protocolVersion: "2026-07-28",
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "new", version: "2" },
  });
  expect(server.got("server/discover")[0]?.params).toEqual({
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "toolgate", version: "9" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  });
  expect(methods(server)).toEqual(["server/discover", "subscriptions/listen"]);
  expect(clock.pending).toBe(0);
});

test("a legacy server refuses the probe, with whatever code, and gets its handshake on the same link", async () => {
  for (const code of [-32601, -32602, -32000, -32002]) {
    const server = legacyServer(refuseDiscover(code));
    const { terms } = await setUp(server).connect();
    expect(terms).toMatchObject({
      era: "legacy",
      protocolVersion: "2025-11-25",
      serverInfo: { name: "old" },
    });
    expect(methods(server)).toEqual(["server/discover", "initialize", "notifications/initialized"]);
    expect(server.got("initialize")[0]?.params).toEqual({
      protocolVersion: "2025-11-25",
      capabilities: { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} },
      clientInfo: { name: "toolgate", version: "9" },
    });
    expect(server.negotiated).toEqual(["2025-11-25"]);
    expect(server.dials).toBe(1);
  }
});

test("a server that answers everything with {} is legacy", async () => {
  const server = legacyServer({ "server/discover": () => ({}) });
  expect((await setUp(server).connect()).terms.era).toBe("legacy");
});

test("no answer to the probe within its time: legacy; the late answer disturbs nobody", async () => {
  const server = legacyServer({ "server/discover": silence });
  const { clock, connect } = setUp(server);
  const connecting = connect();
  await clock.pass(2_999);
  expect(server.got("initialize")).toEqual([]);
  await clock.pass(1);
  const { terms } = await connecting;
  server.say({ jsonrpc: "2.0", id: 1, error: { code: -32601, message: "late" } });
  expect(terms.era).toBe("legacy");
});

test("a modern server that is slow to start is found after all", async () => {
  const discover = modernServer().answers["server/discover"]!;
  let probes = 0;
  const server = modernServer({
    "server/discover": (...args) => (++probes === 1 ? silence() : discover(...args)),
  });
  const { clock, connect } = setUp(server);
  const connecting = connect();
  await clock.pass(3_000);
  expect((await connecting).terms.era).toBe("modern");
  expect(methods(server).slice(0, 4)).toEqual([
    "server/discover",
    "notifications/cancelled",
    "initialize",
    "server/discover",
  ]);
});

test("a server that dies of the probe is dialled again and not probed", async () => {
  const server = legacyServer({
    "server/discover": () => {
      server.die("exited with code 1");
      return silence();
    },
  });
  expect((await setUp(server).connect()).terms.era).toBe("legacy");
  expect(server.dials).toBe(2);
  expect(server.open).toBe(1);
  expect(server.got("server/discover")).toHaveLength(1);
});

test("a server that always dies is an error with its last words, and nothing stays open", async () => {
  const server = legacyServer();
  server.answers["server/discover"] = server.answers["initialize"] = () => {
    server.die("exited with code 1: cannot find module");
    return silence();
  };
  await expect(setUp(server).connect()).rejects.toMatchObject({
    code: "Unavailable",
    message: 'Upstream "fs" could not be connected: exited with code 1: cannot find module',
  });
  expect(server.dials).toBe(2);
  expect(server.open).toBe(0);
});

test("-32022 with a legacy revision that both speak: initialize", async () => {
  const server = legacyServer(refuseDiscover(-32022, { supported: ["2099-01-01", "2025-06-18"] }));
  expect((await setUp(server).connect()).terms.era).toBe("legacy");
});

test("-32022 with the modern revision that was named is asked once more, and then believed", async () => {
  let refusals = 1;
  const server = modernServer();
  const { "server/discover": discover } = server.answers;
  server.answers["server/discover"] = (params, request) => {
    if (refusals-- > 0) throw new RpcError(-32022, "no", { data: { supported: ["2026-07-28"] } });
    return discover!(params, request);
  };
  expect((await setUp(server).connect()).terms.era).toBe("modern");
  refusals = 2;
  await expect(setUp(server).connect()).rejects.toThrow(/no common revision/);
});

test("-32022 without a common revision is an error that names both sides' revisions", async () => {
  const server = legacyServer(refuseDiscover(-32022, { supported: ["2099-01-01"] }));
  await expect(setUp(server).connect()).rejects.toThrow(
    /it speaks 2099-01-01, this gateway 2026-07-28, 2025-11-25/,
  );
  expect(server.got("initialize")).toEqual([]);
});

test("discover without a common revision is an error; with a common legacy one it is legacy", async () => {
  const answer = (...supportedVersions: string[]) => ({
    "server/discover": () => ({ supportedVersions, capabilities: {} }),
  });
  await expect(setUp(legacyServer(answer("2099-01-01"))).connect()).rejects.toThrow("it speaks 2099-01-01");
  expect((await setUp(legacyServer(answer("2099-01-01", "2025-11-25"))).connect()).terms.era).toBe("legacy");
});

test("errors that only modern servers know do not lead to initialize", async () => {
  for (const code of [-32020, -32021]) {
    const server = legacyServer(refuseDiscover(code));
    await expect(setUp(server).connect()).rejects.toThrow("refused server/discover: refused");
    expect(server.got("initialize")).toEqual([]);
  }
});

test("an older legacy revision is accepted, an unknown or missing one is an error", async () => {
  const speaks = (protocolVersion?: string) =>
    legacyServer({ initialize: () => ({ protocolVersion, capabilities: {} }) });
  const old = speaks("2024-11-05");
  expect((await setUp(old).connect()).terms.protocolVersion).toBe("2024-11-05");
  expect(old.negotiated).toEqual(["2024-11-05"]);
  await expect(setUp(speaks("1999-01-01")).connect()).rejects.toThrow('it speaks "1999-01-01"');
  await expect(setUp(speaks()).connect()).rejects.toThrow("none that it names");
});

test("over HTTP, a 4xx without a modern error leads to initialize, a refused login to advice", async () => {
  const failing = (status: number) => {
    const server = legacyServer();
    const dial: ConnectOptions["dial"] = async (events) => {
      const link = await server.dial(events);
      return {
        ...link,
        send(message, extra) {
          if ("method" in message && message.method === "server/discover")
            throw new HttpError(status, `HTTP ${status} from https://x/mcp: no`);
          return link.send(message, extra);
        },
      };
    };
    return setUp(server, { dial });
  };
  for (const status of [400, 404, 405, 500])
    expect((await failing(status).connect()).terms.era).toBe("legacy");
  for (const status of [401, 403])
    await expect(failing(status).connect()).rejects.toThrow(
      /wants credentials.*set "headers".*HTTP 40\d from https:\/\/x\/mcp/,
    );
});

test("a dialler that fails gives its own reason", async () => {
  const server = legacyServer();
  server.refuse = new Error("cannot start nope: ENOENT");
  await expect(setUp(server).connect()).rejects.toThrow(
    'Upstream "fs" could not be connected: cannot start nope: ENOENT',
  );
  expect(server.dials).toBe(1);
});

test("a handshake without end is given up, and the link closed; initialize is not cancelled by a message", async () => {
  const server = legacyServer({ initialize: silence });
  const { clock, connect } = setUp(server);
  const outcome = connect().catch((error: unknown) => error);
  await clock.pass(30_000);
  expect(await outcome).toMatchObject({ message: expect.stringContaining("handshake within 30000 ms") });
  expect(server.open).toBe(0);
  expect(server.got("notifications/cancelled")).toEqual([]);
  expect(clock.pending).toBe(0);
});

test("a server that never takes the end of the handshake is given up too, and its link closed", async () => {
  const server = legacyServer();
  let drop!: () => void;
  const dropped = new Promise<never>((_, reject) => (drop = () => reject(new Error("closed"))));
  const { clock, connect } = setUp(server, {
    dial: async (events) => {
      const link = await server.dial(events);
      return {
        ...link,
        send: (message, extra) =>
          "method" in message && message.method === "notifications/initialized"
            ? dropped
            : link.send(message, extra),
        close: () => (drop(), link.close()),
      };
    },
  });
  const outcome = connect().catch((error: unknown) => error);
  await clock.pass(30_000);
  expect(await outcome).toMatchObject({ message: expect.stringContaining("handshake within 30000 ms") });
  expect([server.open, clock.pending]).toEqual([0, 0]);
});

test("a dialler that hangs is given up; its link is closed when it comes", async () => {
  const server = legacyServer();
  let comes!: () => void;
  const late = new Promise<void>((resolve) => (comes = resolve));
  const { clock, connect } = setUp(server, { dial: (events) => late.then(() => server.dial(events)) });
  const outcome = connect().catch((error: unknown) => error);
  await clock.pass(30_000);
  expect(await outcome).toMatchObject({ code: "Unavailable" });
  comes();
  await settle();
  expect([server.dials, server.open]).toEqual([1, 0]);
});

test("the owner can end the attempt", async () => {
  const server = legacyServer({ "server/discover": silence });
  const cancellation = new Cancellation();
  const { connect } = setUp(server, { cancellation });
  const outcome = connect().catch((error: unknown) => error);
  await settle();
  cancellation.cancel(new Error("the gateway closes"));
  expect(await outcome).toMatchObject({ message: expect.stringContaining("the gateway closes") });
  expect(server.open).toBe(0);
});

test("a known legacy server is not probed, until its handshake fails", async () => {
  const server = legacyServer();
  const eraCache: EraCache = {};
  const { connect } = setUp(server, { eraCache });
  await connect();
  await connect();
  expect(server.got("server/discover")).toHaveLength(1);
  server.answers["initialize"] = () => {
    throw new RpcError(-32601, "modern by now");
  };
  await expect(connect()).rejects.toThrow("modern by now");
  Object.assign(server.answers, { "server/discover": modernServer().answers["server/discover"] });
  expect((await connect()).terms.era).toBe("modern");
  expect(eraCache.era).toBe("modern");
});

test("a server may ping, of either era and at any time", async () => {
  for (const server of [legacyServer(), modernServer()]) {
    const answers = server.answers;
    const method = answers["initialize"] ? "initialize" : "server/discover";
    const handshake = answers[method]!;
    let early: unknown;
    answers[method] = async (...asked) => {
      early = await server.ask("ping");
      return handshake(...asked);
    };
    await setUp(server).connect();
    expect([early, await server.ask("ping")]).toMatchObject([{ result: {} }, { result: {} }]);
  }
});

test("what comes before the handshake is over goes to the gateway's log", async () => {
  const log = vi.fn<ConnectOptions["log"]>();
  const server = legacyServer({
    initialize: () => {
      server.notify("notifications/message", { level: "warning", data: { starting: true } });
      return { protocolVersion: "2025-11-25", capabilities: {} };
    },
  });
  await setUp(server, { log }).connect();
  expect(log).toHaveBeenCalledExactlyOnceWith("warning", 'Upstream "fs": {"starting":true}');
});
