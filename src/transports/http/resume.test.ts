import type { IncomingMessage } from "node:http";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Log } from "../../core/effects.ts";
import type { Exchange, Reply, Session } from "../../wire/endpoint.ts";
import {
  allEvents,
  call,
  deferred,
  FakeEndpoint,
  initialized,
  legacyRequest,
  modernRequest,
  open,
  result,
  textOf,
  type Method,
} from "../../../test/support/httpListen.ts";
import { FakeClock } from "../../../test/support/fakeClock.ts";
import { listenHttp, type HttpListener } from "./listen.ts";

interface Event {
  id?: string;
  retry?: string;
  data?: string;
}

let server: HttpListener;
let clock: FakeClock;
let endpoint: FakeEndpoint;
let methods: Record<string, Method>;
let held: ReturnType<typeof deferred<Exchange>>;
let release: ReturnType<typeof deferred<Reply | undefined>>;
const log = vi.fn<Log>();

beforeEach(async () => {
  clock = new FakeClock();
  held = deferred();
  release = deferred();
  log.mockClear();
  methods = {
    hold: (_, exchange) => {
      held.resolve(exchange);
      return release.promise;
    },
  };
  endpoint = new FakeEndpoint(methods);
  server = await listenHttp({
    host: "127.0.0.1",
    port: 0,
    route: (path) => (path === "/mcp" ? endpoint : undefined),
    authenticate: (authorization) => ({ id: authorization ?? "local" }),
    clock,
    log,
  });
});

afterEach(() => server.close());

const note = (at: number) => ({ jsonrpc: "2.0" as const, method: "notifications/message", params: { at } });
const question = (id: number) => ({ jsonrpc: "2.0" as const, id, method: "roots/list" });
const reply = (id = 1) => ({ text: `{"jsonrpc":"2.0","id":${id},"result":{}}`, status: 200 });
const dataOf = (...messages: object[]): string[] => messages.map((message) => JSON.stringify(message));

/** Opens a session of a revision. */
async function session(protocolVersion = "2025-11-25", headers = {}): Promise<{ id: string; own: Session }> {
  methods["initialize"] = (message, exchange) => {
    exchange.session!.legacy = { protocolVersion, capabilities: {}, subscriptions: new Map() };
    return result(message, { protocolVersion });
  };
  const id = await initialized(server, { headers });
  return { id, own: endpoint.exchanges.at(-1)!.session! };
}

const named = (id: string) => ({ "Mcp-Session-Id": id });

const get = (id: string, lastEvent?: string, more: Record<string, string> = {}) =>
  open(server, {
    method: "GET",
    headers: {
      Accept: "text/event-stream",
      ...named(id),
      ...(lastEvent !== undefined && { "Last-Event-ID": lastEvent }),
      ...more,
    },
  });

/** The events of a response, as they come; priming ones too. */
async function* eventsIn(res: IncomingMessage): AsyncGenerator<Event> {
  let text = "";
  for await (const chunk of res.setEncoding("utf8")) {
    text += chunk as string;
    const parts = text.split("\n\n");
    text = parts.pop()!;
    for (const part of parts)
      yield Object.fromEntries(part.split("\n").map((line) => /^(\w+): ?(.*)$/.exec(line)!.slice(1)));
  }
}

async function next(events: AsyncGenerator<Event>): Promise<Event> {
  return (await events.next()).value as Event;
}

async function rest(events: AsyncGenerator<Event>): Promise<Event[]> {
  const all: Event[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** A request that has sent one note and not been answered; its stream's first events are read. */
async function streaming(id: string) {
  const { response, abort } = open(server, { headers: named(id), body: legacyRequest("hold") });
  const exchange = await held.promise;
  exchange.send(note(1));
  const res = await response;
  res.on("error", () => {});
  return { exchange, abort, res, events: eventsIn(res) };
}

describe("the stream of a POST", () => {
  test("begins with an event without data that says when to come back", async () => {
    const { id } = await session();
    const { events } = await streaming(id);
    expect(await next(events)).toEqual({ id: expect.stringMatching(/-1-0$/), retry: "1000", data: "" });
    expect(await next(events)).toMatchObject({
      id: expect.stringMatching(/-1-1$/),
      data: dataOf(note(1))[0],
    });
  });

  test.each(["2025-06-18", "2025-03-26", "2024-11-05"])(
    "has messages only in %s, with ids",
    async (version) => {
      const { id } = await session(version);
      const { events, exchange } = await streaming(id);
      exchange.closeStream?.();
      release.resolve(reply());
      expect(await rest(events)).toEqual([
        { event: "message", id: expect.stringMatching(/-1-1$/), data: dataOf(note(1))[0] },
        { event: "message", id: expect.stringMatching(/-1-2$/), data: reply().text },
      ]);
    },
  );

  test("is none where nothing precedes the reply", async () => {
    const { id } = await session();
    const headers = { ...named(id), Accept: "application/json, text/event-stream" };
    const answer = await call(server, { headers, body: legacyRequest("ping") });
    expect(answer.headers["content-type"]).toBe("application/json");
  });

  test("has an id for a reply that comes alone, with the status of the reply", async () => {
    const { id } = await session();
    methods["refused"] = (message) => result(message, {}, 400);
    const headers = { ...named(id), Accept: "text/event-stream" };
    const res = await open(server, { headers, body: legacyRequest("refused") }).response;
    expect(res.statusCode).toBe(400);
    expect(await rest(eventsIn(res))).toMatchObject([{ data: "" }, { id: expect.stringMatching(/-1-1$/) }]);
  });

  test("carries the server's questions, and their answers are accepted in the session", async () => {
    const { id, own } = await session();
    const { exchange, events } = await streaming(id);
    expect(exchange.send(question(7))).toBe(true);
    await next(events);
    await next(events);
    expect((await next(events)).data).toBe(dataOf(question(7))[0]);
    const answer = { jsonrpc: "2.0", id: 7, result: { roots: [] } };
    const { status, text } = await call(server, { headers: named(id), body: answer });
    expect([status, text]).toEqual([202, ""]);
    expect(endpoint.incoming.at(-1)).toEqual({ kind: "response", message: answer });
    expect(endpoint.exchanges.at(-1)?.session).toBe(own);
    expect((await call(server, { headers: named("other"), body: answer })).status).toBe(404);
  });

  test("that was dropped goes on by GET after the event that its client names", async () => {
    const { id } = await session();
    const { exchange, abort, events } = await streaming(id);
    await next(events);
    const { id: last } = await next(events);
    abort();
    expect(exchange.send(question(2))).toBe(true);
    const resumed = eventsIn(await get(id, last).response);
    expect((await next(resumed)).data).toBe(dataOf(question(2))[0]);
    exchange.send(note(3));
    release.resolve(reply());
    expect((await rest(resumed)).map(({ data }) => data)).toEqual([...dataOf(note(3)), reply().text]);
    expect(exchange.cancellation!.cancelled).toBe(false);
    expect(clock.pending).toBe(1);
  });

  test("is kept for a client that comes back after the reply, more than once", async () => {
    const { id } = await session();
    const { abort, events } = await streaming(id);
    const { id: first } = await next(events);
    abort();
    release.resolve(reply());
    for (let times = 0; times < 2; times++) {
      const res = await get(id, first).response;
      expect((await rest(eventsIn(res))).map(({ data }) => data)).toEqual([...dataOf(note(1)), reply().text]);
    }
  });

  test("that has nothing left is 204, so that its client stops", async () => {
    const { id } = await session();
    const { events } = await streaming(id);
    release.resolve(reply());
    const last = (await rest(events)).at(-1)!.id;
    const res = await get(id, last).response;
    expect([res.statusCode, await textOf(res)]).toEqual([204, ""]);
  });

  test("is taken over beside the session's own stream, and its old connection ends", async () => {
    const { id, own } = await session();
    const listening = eventsIn(await get(id).response);
    const { exchange, events } = await streaming(id);
    const { id: first } = await next(events);
    const resumed = eventsIn(await get(id, first).response);
    expect((await rest(events)).map(({ data }) => data)).toEqual(dataOf(note(1)));
    own.send(note(10));
    exchange.send(note(2));
    release.resolve(reply());
    expect((await rest(resumed)).map(({ data }) => data)).toEqual([
      ...dataOf(note(1), note(2)),
      reply().text,
    ]);
    await next(listening);
    expect((await next(listening)).data).toBe(dataOf(note(10))[0]);
  });

  test("can be closed by the server, and fetched", async () => {
    const { id } = await session();
    const { response } = open(server, { headers: named(id), body: legacyRequest("hold") });
    const exchange = await held.promise;
    exchange.closeStream?.();
    const [primed, ...more] = await rest(eventsIn(await response));
    expect(more).toEqual([]);
    release.resolve(reply());
    const resumed = await rest(eventsIn(await get(id, primed!.id).response));
    expect(resumed.map(({ data }) => data)).toEqual([reply().text]);
  });

  test.each([
    ["of a client that takes JSON only", { Accept: "application/json" }, legacyRequest("hold")],
    ["of a modern request", {}, modernRequest("hold")],
  ])("%s is not closed before its reply", async (_, headers, body) => {
    const { id } = await session();
    const response = call(server, { headers: { ...named(id), ...headers }, body });
    (await held.promise).closeStream?.();
    release.resolve(reply());
    expect((await response).text).toBe(reply().text);
  });

  test("ends with its session, when the server stops too, on whichever connection it is", async () => {
    const { id } = await session();
    const { events } = await streaming(id);
    const { id: first } = await next(events);
    const res = await get(id, first).response;
    const all = allEvents(res);
    await server.close();
    expect(await all).toEqual([note(1)]);
    expect(endpoint.ended.map((ended) => ended.id)).toEqual([id]);
  });
});

describe("the session's own stream", () => {
  test("has what was sent before it was there", async () => {
    const { id, own } = await session();
    own.send(question(1));
    own.send(note(2));
    const events = eventsIn(await get(id).response);
    expect(await next(events)).toMatchObject({ id: expect.stringMatching(/-0-0$/), data: "" });
    expect([await next(events), await next(events)].map(({ data }) => data)).toEqual(
      dataOf(question(1), note(2)),
    );
  });

  test("goes on after the event that its client names; its old connection need not have closed", async () => {
    const { id, own } = await session();
    own.send(note(1));
    own.send(note(2));
    const old = eventsIn(await get(id).response);
    await next(old);
    const { id: first } = await next(old);
    const resumed = eventsIn(await get(id, first).response);
    expect((await rest(old)).map(({ data }) => data)).toEqual(dataOf(note(2)));
    expect((await next(resumed)).data).toBe(dataOf(note(2))[0]);
    own.send(note(3));
    expect((await next(resumed)).data).toBe(dataOf(note(3))[0]);
    expect((await get(id).response).statusCode).toBe(409);
  });

  test("leaves nothing behind, however often it is opened and dropped", async () => {
    const { id, own } = await session("2025-06-18");
    for (let times = 0; times < 1000; times++) {
      const { response, abort } = get(id, "");
      const res = await response;
      res.on("error", () => {});
      // The server may learn of the end of the one before only now.
      if (res.statusCode === 409) times--;
      abort();
    }
    let res: IncomingMessage;
    do res = await get(id).response;
    while (res.statusCode === 409);
    // One for the sweep of idle sessions, one for the stream that is open.
    expect(clock.pending).toBe(2);
    own.send(note(1));
    expect((await next(eventsIn(res))).id).toMatch(/-0-1$/);
  });
});

describe("Last-Event-ID", () => {
  test("of what is not kept any more is 400, and says what to do", async () => {
    const { id, own } = await session();
    const events = eventsIn(await get(id).response);
    const { id: primed } = await next(events);
    for (let at = 1; at <= 10_000; at++) own.send(note(at));
    const res = await get(id, primed).response;
    expect(res.statusCode).toBe(400);
    expect(await textOf(res)).toContain("send GET without Last-Event-ID");
    // The session lives on.
    expect((await call(server, { headers: named(id), body: legacyRequest("ping") })).status).toBe(200);
  });

  test.each(["x", "-1", "0", "9".repeat(8_000), "00000000-0-0", "é", "a, b"])(
    "%s is 400",
    async (lastEvent) => {
      const { id } = await session();
      expect((await get(id, Buffer.from(lastEvent).toString("latin1")).response).statusCode).toBe(400);
    },
  );

  test("of another session is 400, and in another principal's session 404", async () => {
    const anna = await session("2025-11-25", { Authorization: "anna" });
    const bens = await session("2025-11-25", { Authorization: "ben" });
    bens.own.send(note(1));
    const asAnna = { Authorization: "anna" };
    const asBen = { Authorization: "ben" };
    const { id: primed } = await next(eventsIn(await get(bens.id, undefined, asBen).response));
    expect((await get(anna.id, primed, asAnna).response).statusCode).toBe(400);
    expect((await get(bens.id, primed, asAnna).response).statusCode).toBe(404);
    expect((await get(bens.id, primed, asBen).response).statusCode).toBe(200);
  });

  test("after the session's end is 404", async () => {
    const { id } = await session();
    const { id: primed } = await next(eventsIn(await get(id).response));
    await call(server, { method: "DELETE", headers: named(id) });
    expect((await get(id, primed).response).statusCode).toBe(404);
  });
});

describe("who does not read", () => {
  test("loses its connection, once too much waits that may not be dropped", async () => {
    const { id } = await session();
    const { exchange, res } = await streaming(id);
    const params = { text: "x".repeat(4 * 1024 * 1024) };
    const gone = new Promise((resolve) => res.on("close", resolve));
    res.pause();
    for (let sent = 0; sent < 18; sent++) exchange.send({ ...question(sent), params });
    expect(log).toHaveBeenCalledWith("warning", expect.stringContaining("cut off"), { limit: 67_108_864 });
    res.resume();
    await gone;
    expect(res.complete).toBe(false);
  });

  test("loses its session's stream by a reply that comes then", async () => {
    const { id } = await session();
    const { exchange, res } = await streaming(id);
    const params = { text: "x".repeat(66 * 1024 * 1024) };
    const gone = new Promise((resolve) => res.on("close", resolve));
    res.pause();
    exchange.send({ ...question(1), params });
    release.resolve(reply());
    await release.promise;
    res.resume();
    await gone;
    expect(res.complete).toBe(false);
    const later = await call(server, { headers: named(id), body: legacyRequest("ping") });
    expect(later.status).toBe(200);
  });
});
