import { connect } from "node:net";
import { once } from "node:events";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { EchoEndpoint } from "../../test/support/echoEndpoint.ts";
import { FakeClock } from "../../test/support/fakeClock.ts";
import { connectLines, type LineClient } from "../../test/support/lineClient.ts";
import type { Log } from "../core/effects.ts";
import type { JsonRpcMessage } from "../wire/jsonrpc.ts";
import type { LinkEvents } from "../wire/link.ts";
import { bearer, noAuth } from "./http/bearer.ts";
import { dialTcp, listenTcp, type TcpListener, type TcpListenOptions } from "./tcp.ts";

const token = "0123456789abcdef";
const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((one) => one.close()));
});

async function listen(options: Partial<TcpListenOptions> = {}) {
  const endpoint = new EchoEndpoint();
  const clock = new FakeClock();
  const log = vi.fn<Log>();
  const listener = await listenTcp({
    endpoint,
    host: "127.0.0.1",
    port: 0,
    authenticate: bearer(new Map([["ada", token]])),
    clock,
    log,
    ...options,
  });
  closing.push(listener);
  return { endpoint, clock, log, listener };
}

async function client({ port }: TcpListener): Promise<LineClient> {
  const lines = await connectLines({ host: "127.0.0.1", port });
  closing.push(lines);
  return lines;
}

const request = (id: number, meta?: object) => ({
  jsonrpc: "2.0",
  id,
  method: "m",
  params: { a: 1, ...(meta && { _meta: meta }) },
});
const withToken = { "dev.toolgate/token": token, other: 1 };

describe("the token", () => {
  test("of the first request names the principal, and nobody behind the door sees it", async () => {
    const { endpoint, listener } = await listen();
    const lines = await client(listener);
    const answer = await lines.ask(request(1, withToken));
    expect(answer).toMatchObject({ id: 1, result: { params: { a: 1, _meta: { other: 1 } } } });
    await lines.ask(request(2));
    expect(endpoint.exchanges.map(({ principal }) => principal.id)).toEqual(["ada", "ada"]);
    expect(endpoint.exchanges[0]).toBe(endpoint.exchanges[1]);
  });

  test("is taken out of later messages too, alone or in a batch", async () => {
    const { endpoint, listener } = await listen();
    const lines = await client(listener);
    await lines.ask(request(1, withToken));
    lines.send({ jsonrpc: "2.0", method: "n", params: { _meta: withToken } });
    lines.send([request(2, withToken)]);
    await lines.ask(request(3, withToken));
    expect(endpoint.seen).toHaveLength(4);
    expect(JSON.stringify(endpoint.seen)).not.toContain(token);
  });

  test.each([
    ["missing", undefined, "This server wants a token"],
    ["wrong", { "dev.toolgate/token": `${token}0` }, "The token is not valid here"],
    ["no text", { "dev.toolgate/token": 1 }, "The token is not valid here"],
    ["two words", { "dev.toolgate/token": `x ${token}` }, "The token is not valid here"],
  ])("that is %s is an error, and the connection is closed", async (_, meta, message) => {
    const { endpoint, listener } = await listen();
    const lines = await client(listener);
    const error = { code: -32600, message: expect.stringContaining(message) };
    expect(await lines.ask(request(1, meta))).toEqual({ jsonrpc: "2.0", id: 1, error });
    expect(await lines.rest).toBe("");
    expect(endpoint.seen).toEqual([]);
  });

  test("is not needed where everybody is local, and still not passed on", async () => {
    const { endpoint, listener } = await listen({ authenticate: noAuth });
    const lines = await client(listener);
    await lines.ask(request(1, withToken));
    expect(endpoint.exchanges[0]?.principal.id).toBe("local");
    expect(JSON.stringify(endpoint.seen)).not.toContain(token);
  });
});

describe("a client that does not begin with a request", () => {
  test.each([
    ["a web page's POST", `POST / HTTP/1.1\r\nHost: a\r\n\r\n${JSON.stringify(request(1, withToken))}\n`],
    ["JSON that is no message", `{}\n${JSON.stringify(request(1, withToken))}\n`],
    ["a notification", '{"jsonrpc":"2.0","method":"n"}\n'],
    ["a response", '{"jsonrpc":"2.0","id":1,"result":{}}\n'],
    ["a batch", `[${JSON.stringify(request(1, withToken))}]\n`],
  ])("is cut off without a word: %s", async (_, bytes) => {
    const { endpoint, listener, log } = await listen();
    const lines = await client(listener);
    lines.write(bytes);
    expect(await lines.rest).toBe("");
    expect(log.mock.calls).toEqual([["info", expect.stringContaining("A client was cut off")]]);
    expect(endpoint.seen).toEqual([]);
    expect(endpoint.ended).toEqual([]);
  });

  test("may send any bytes: the door stays open for others", async () => {
    const { endpoint, listener } = await listen();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
        const lines = await connectLines({ host: "127.0.0.1", port: listener.port });
        lines.write(bytes);
        lines.leave();
        await lines.rest;
      }),
      { numRuns: 50 },
    );
    expect(endpoint.seen).toEqual([]);
    expect(await (await client(listener)).ask(request(1, withToken))).toHaveProperty("result");
  });

  test("may not fill the memory: its first message has a smaller limit, and the others the usual one", async () => {
    const { listener } = await listen();
    const stranger = await client(listener);
    stranger.write("x".repeat(64 * 1024 + 1));
    const error = { code: -32600, message: expect.stringContaining("may have 65536 bytes") };
    expect(await stranger.answer()).toEqual({ jsonrpc: "2.0", error });
    const known = await client(listener);
    await known.ask(request(1, withToken));
    expect(await known.ask(request(2, { text: "x".repeat(200_000) }))).toHaveProperty("result");
  });

  test("and says nothing is cut off after ten seconds, and one that has is not", async () => {
    const { clock, listener } = await listen();
    const known = await client(listener);
    await known.ask(request(1, withToken));
    const silent = await client(listener);
    await vi.waitFor(() => expect(clock.pending).toBe(1));
    clock.advance(9_999);
    clock.advance(1);
    expect(await silent.rest).toBe("");
    expect(await known.ask(request(2))).toHaveProperty("result");
    expect(clock.pending).toBe(0);
  });
});

test("later lines that are no message are answered", async () => {
  const { listener } = await listen();
  const lines = await client(listener);
  await lines.ask(request(1, withToken));
  lines.write("GET / HTTP/1.1\n");
  expect(await lines.answer()).toEqual({ invalid: true });
  expect(await lines.ask(request(2))).toHaveProperty("result");
});

test("a client that stops asking gets its answer", async () => {
  const { endpoint, listener } = await listen();
  const lines = await client(listener);
  lines.write(JSON.stringify(request(1, withToken)));
  lines.leave();
  expect(await lines.rest).toContain('"id":1');
  expect(endpoint.ended).toEqual([endpoint.exchanges[0]?.session]);
});

test("connections beyond the bound are closed at once, which the log says once", async () => {
  const { listener, log } = await listen({ maxConnections: 1 });
  const first = await client(listener);
  await first.ask(request(1, withToken));
  for (let n = 0; n < 2; n++) expect(await (await client(listener)).rest).toBe("");
  expect(log.mock.calls).toEqual([["warning", expect.stringContaining("There are 1 connections")]]);
  await first.close();
});

test("close ends every connection and its session", async () => {
  const { endpoint, listener } = await listen();
  const lines = await client(listener);
  await lines.ask(request(1, withToken));
  const silent = await client(listener);
  await listener.close();
  await listener.close();
  await Promise.all([lines.rest, silent.rest]);
  expect(endpoint.ended).toHaveLength(1);
  const late = connect({ host: "127.0.0.1", port: listener.port });
  await expect(once(late, "connect")).rejects.toThrow("ECONNREFUSED");
});

test("a port that is taken is told with what to do", async () => {
  const { port } = (await listen()).listener;
  await expect(listen({ port })).rejects.toThrow(`Port ${port} on 127.0.0.1 is in use. Stop`);
});

describe("dialTcp", () => {
  const ping: JsonRpcMessage = { jsonrpc: "2.0", id: 1, method: "ping" };

  async function dial(port: number, withToken?: string) {
    const events = { message: vi.fn<LinkEvents["message"]>(), closed: vi.fn<LinkEvents["closed"]>() };
    const dialled = dialTcp({
      host: "127.0.0.1",
      port,
      ...(withToken !== undefined && { token: withToken }),
    });
    const link = await dialled(events);
    closing.push(link);
    return { events, link };
  }

  test("sends its token with the first request of each connection, and never again", async () => {
    const { endpoint, listener } = await listen();
    for (let n = 0; n < 2; n++) {
      const { events, link } = await dial(listener.port, token);
      void link.send(ping);
      void link.send({ ...ping, id: 2 });
      await vi.waitFor(() => expect(events.message).toHaveBeenCalledTimes(2));
    }
    expect(endpoint.exchanges.map(({ principal }) => principal.id)).toEqual(["ada", "ada", "ada", "ada"]);
  });

  test("gets the refusal and the end of the connection", async () => {
    const { listener } = await listen();
    const { events, link } = await dial(listener.port);
    void link.send(ping);
    await vi.waitFor(() => expect(events.closed).toHaveBeenCalled());
    expect(JSON.stringify(events.message.mock.calls)).toContain("dev.toolgate/token");
    expect(() => link.send(ping)).toThrow("closed");
  });

  test("close tells nothing and ends the session", async () => {
    const { endpoint, listener } = await listen();
    const { events, link } = await dial(listener.port, token);
    void link.send(ping);
    await vi.waitFor(() => expect(events.message).toHaveBeenCalled());
    await link.close();
    await vi.waitFor(() => expect(endpoint.ended).toHaveLength(1));
    expect(events.closed).not.toHaveBeenCalled();
  });

  test("a server that is not there is told with its address", async () => {
    const { listener } = await listen();
    await listener.close();
    await expect(dial(listener.port)).rejects.toThrow(
      `Could not reach tcp://127.0.0.1:${listener.port}: connect ECONNREFUSED`,
    );
  });
});
