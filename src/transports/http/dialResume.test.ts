import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import {
  answer,
  event,
  failure,
  legacy,
  notification,
  request,
  serve,
  shakeHands,
  stream,
  type Handler,
} from "../../../test/support/dialed.ts";

type Respond = (response: ServerResponse) => void;

/** A session in which each request for a stream (the call with id 2, then each GET) is answered by the next of `responses`. */
async function resuming(...responses: Respond[]) {
  const gone: string[] = [];
  const handle: Handler = (one, response) => {
    if (one.body.method === "tools/call" || one.headers["last-event-id"] !== undefined) {
      const respond = responses.shift();
      if (respond) return respond(response);
      gone.push(one.method);
      return response.writeHead(500).end();
    }
    return response.writeHead(one.method === "GET" ? 405 : 202).end();
  };
  const served = await serve(legacy(handle));
  await shakeHands(served.link);
  await served.until(() => served.seen.some(({ method }) => method === "GET"));
  /** The GETs that took a stream up. */
  const resumed = () => served.seen.filter(({ headers }) => headers["last-event-id"] !== undefined);
  return { ...served, gone, resumed };
}

const progress = { jsonrpc: "2.0", method: "notifications/progress" };
const prime = (id: string, retry?: number): string =>
  `id: ${id}\n${retry === undefined ? "" : `retry: ${retry}\n`}data: \n\n`;
const call = request("tools/call", {}, 2);

test("a stream that the server ends before the answer is polled, after the pause that it asks for", async () => {
  const { link, pause, causes, messages, resumed, clock } = await resuming(
    (response) => stream(response).end(prime("a", 500)),
    (response) => stream(response).end(`id: b\n${event(progress)}`),
    (response) => stream(response).end(event(answer(2))),
  );
  const sent = link.send(call);
  expect(await pause()).toBe(500);
  expect(await pause()).toBe(500);
  await sent;
  expect(resumed().map(({ headers }) => headers["last-event-id"])).toEqual(["a", "b"]);
  for (const { method, headers } of resumed()) {
    expect(method).toBe("GET");
    expect(headers).toMatchObject({
      accept: "text/event-stream",
      "mcp-session-id": "s1",
      "mcp-protocol-version": "2025-11-25",
    });
  }
  // The answer to `initialize`, then what belongs to the call.
  expect(messages.slice(1)).toMatchObject([{ kind: "notification" }, { message: { id: 2 } }]);
  expect(causes.slice(1)).toEqual([2, 2]);
  expect(clock.pending).toBe(0);
});

test("a stream that breaks is taken up again, with growing pauses while that fails", async () => {
  const { link, pause } = await resuming(
    (response) => stream(response).write(prime("a"), () => response.destroy()),
    (response) => response.destroy(),
    (response) => response.writeHead(409).end(),
    (response) => response.writeHead(503).end(),
    (response) => stream(response).write(event(answer(2))),
  );
  const sent = link.send(call);
  const pauses = [await pause(), await pause(), await pause(), await pause()];
  expect(pauses[0]).toBe(1_000);
  for (const [n, least] of [1_000, 1_000, 2_000, 4_000].entries())
    expect(pauses[n]).toBeGreaterThanOrEqual(least);
  // The stream stays open after the answer, but not for long.
  expect(await pause()).toBeCloseTo(5_000);
  await sent;
});

test("a server may ask for long pauses and short ones, but not to be flooded, nor for none that ever ends", async () => {
  for (const [asked, waited] of [
    [0, 100],
    [90_000, 90_000],
    [1e15, 3_600_000],
  ] as const) {
    const { link, pause } = await resuming(
      (response) => stream(response).end(prime("a", asked)),
      (response) => stream(response).end(event(answer(2))),
    );
    const sent = link.send(call);
    expect(await pause()).toBe(waited);
    await sent;
  }
});

test("a request fails whose stream cannot be taken up again, and says why", async () => {
  for (const [respond, reason] of [
    [(response) => response.writeHead(405).end(), "HTTP 405"],
    [(response) => response.writeHead(404).end(), "HTTP 404"],
    [(response) => response.writeHead(200, { "content-type": "text/html" }).end("hello"), "HTTP 200"],
  ] as const satisfies [Respond, string][]) {
    const { link, pause, address, clock, gone, told } = await resuming(
      (response) => stream(response).end(prime("a")),
      respond,
    );
    const error = failure(link.send(call));
    await pause();
    expect((await error).message).toBe(
      `The connection to ${address} broke before the answer: it could not be taken up again: ${reason}`,
    );
    expect({ gone, told, pending: clock.pending }).toEqual({ gone: [], told: [], pending: 0 });
  }
});

test("five tries in a row that give no stream are enough", async () => {
  const { link, pause, resumed } = await resuming((response) => stream(response).end(prime("a")));
  const error = failure(link.send(call));
  for (let n = 0; n < 5; n++) await pause();
  expect((await error).message).toContain("could not be taken up again: HTTP 500");
  expect(resumed()).toHaveLength(5);
});

test("a stream whose events have no ids, or whose last id was taken back, is not taken up", async () => {
  for (const text of [event(progress), `${prime("a")}id:\n${event(progress)}`]) {
    const { link, resumed, clock } = await resuming((response) => stream(response).end(text));
    expect((await failure(link.send(call))).message).toContain("without an answer");
    expect(resumed()).toEqual([]);
    expect(clock.pending).toBe(0);
  }
});

test("an answer that is longer than the bound is not asked for again", async () => {
  const { link, messages, resumed } = await resuming((response) =>
    stream(response).end(`${prime("a")}data: ${"x".repeat(33 * 1024 * 1024)}\n\n`),
  );
  await link.send(call);
  expect(messages.at(-1)).toMatchObject({ kind: "invalid", reason: "size", id: 2 });
  expect(resumed()).toEqual([]);
});

test("a cancelled request's stream is polled no more, and neither is that of a closed link", async () => {
  for (const end of ["cancel", "close"] as const) {
    const { link, resumed, clock, until, seen } = await resuming((response) =>
      stream(response).end(prime("a", 60_000)),
    );
    const error = failure(link.send(call));
    await until(() => seen.at(-1)?.body.id === 2);
    while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
    if (end === "close") await link.close();
    else link.cancel!(2);
    await clock.pass(5_000);
    expect((await error).message).toContain("the stream was given up");
    expect(clock.pending).toBe(0);
    expect(resumed()).toEqual([]);
  }
});

test("the server's own stream is polled too, as often as the server asks for", async () => {
  let gets = 0;
  const { link, pause, seen, arrived } = await serve(
    legacy((one, response) => {
      if (one.method !== "GET") return response.writeHead(202).end();
      gets += 1;
      const text = gets === 1 ? prime("a", 250) : event({ ...progress, method: "notifications/x" });
      return stream(response).end(text);
    }),
  );
  await link.send(request("initialize"));
  await link.send(notification("initialized"));
  expect(await pause()).toBe(250);
  await arrived(2);
  expect(
    seen.filter(({ method }) => method === "GET").map(({ headers }) => headers["last-event-id"]),
  ).toEqual([undefined, "a"]);
});
