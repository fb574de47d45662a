import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import {
  answer,
  event,
  failure,
  json,
  modern,
  notification,
  request,
  serve,
  stream,
  type Handler,
} from "../../../test/support/dialed.ts";
import type { DialHttpOptions } from "./dial.ts";

interface Old {
  /** What the stream says first. Default: the endpoint `/messages?s=1`. */
  readonly begins?: string;
  /** Answers what is POSTed to the endpoint; `say` writes to the stream. Default: echo. */
  onMessage?(one: Parameters<Handler>[0], response: ServerResponse, say: (text: string) => void): void;
  /** Answers what is POSTed to the stream's own address. */
  onPost?: Handler;
  readonly options?: Partial<DialHttpOptions>;
}

/** A server of HTTP+SSE at `/mcp`, and a link to it. */
async function old({ begins, onMessage, onPost, options }: Old = {}) {
  let say = (_: string): void => {};
  let end = (): void => {};
  const served = await serve((one, response, req) => {
    if (one.method === "GET") {
      stream(response).write(begins ?? "event: endpoint\ndata: /messages?s=1\n\n");
      say = (text) => void response.write(text);
      end = () => response.destroy();
    } else if (one.path.startsWith("/mcp"))
      (onPost ?? ((_, refused) => refused.writeHead(405).end("no")))(one, response, req);
    else if (onMessage) onMessage(one, response, say);
    else {
      response.writeHead(202).end("Accepted");
      if (one.body.id !== undefined) say(event(answer(one.body.id)));
    }
  }, options);
  return { ...served, say: (text: string) => say(text), end: () => end() };
}

const forced = { sse: true };

test("messages go to the endpoint that the stream names, and answers come on the stream", async () => {
  const { link, seen, arrived, causes, say } = await old({
    options: { ...forced, headers: { authorization: "Bearer t" } },
  });
  await link.send(request("initialize"));
  link.negotiated!("2024-11-05");
  await link.send(notification("initialized"));
  say(`event: ping\ndata: {}\n\n${event({ jsonrpc: "2.0", id: "s", method: "roots/list" })}`);
  expect(await arrived(2)).toMatchObject([{ kind: "response" }, { kind: "request" }]);
  expect(causes).toEqual([undefined, undefined]);
  expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /mcp?key=secret",
    "POST /messages?s=1",
    "POST /messages?s=1",
  ]);
  for (const { headers } of seen) expect(headers.authorization).toBe("Bearer t");
  expect(seen[0]?.headers.accept).toBe("text/event-stream");
  expect(seen[1]?.headers).not.toHaveProperty("mcp-protocol-version");
  expect(seen[2]?.headers["mcp-protocol-version"]).toBe("2024-11-05");
  // A request is withdrawn by a notification.
  expect(link.cancel?.(1) ?? false).toBe(false);
});

test("a server that refuses initialize as an old one would is asked for its stream", async () => {
  for (const status of [400, 404, 405]) {
    const { link, seen, arrived, clock } = await old({
      onPost: (_, response) => response.writeHead(status).end("Cannot POST /mcp"),
    });
    // A client of both eras goes on to `initialize` after this.
    expect(await failure(link.send(modern("server/discover")))).toMatchObject({ status });
    await link.send(request("initialize", {}, 2));
    expect(await arrived(1)).toMatchObject([{ message: { id: 2 } }]);
    link.negotiated!("2024-11-05");
    await link.send(request("tools/list", {}, 3));
    expect(link.cancel!(3)).toBe(false);
    expect(
      seen.map(({ method, path, headers }) => `${method} ${path} ${String(headers["mcp-protocol-version"])}`),
    ).toEqual([
      "POST /mcp?key=secret 2026-07-28",
      "POST /mcp?key=secret undefined",
      "GET /mcp?key=secret undefined",
      "POST /messages?s=1 undefined",
      "POST /messages?s=1 2024-11-05",
    ]);
    expect(clock.pending).toBe(0);
  }
});

test("no stream is asked for where that is ruled out, after another status, or after a JSON-RPC error", async () => {
  const error = { code: -32022, message: "no", data: { supported: ["2026-07-28"] } };
  for (const [onPost, options] of [
    [(_, response) => response.writeHead(404).end(), { sse: false }],
    [(_, response) => response.writeHead(401).end(), {}],
    [(_, response) => response.writeHead(503).end(), {}],
    [(_, response) => json(response, { jsonrpc: "2.0", id: null, error }, 400), {}],
  ] as const satisfies [Handler, object][]) {
    const { link, seen } = await old({ onPost, options });
    await Promise.resolve(link.send(request("initialize"))).catch(() => {});
    expect(seen.map(({ method }) => method)).toEqual(["POST"]);
  }
});

test("a server that is neither says so in one error, and is not asked twice", async () => {
  const { link, seen, address } = await serve((_, response) =>
    response.writeHead(404, { "www-authenticate": "Basic" }).end("Not Found"),
  );
  const error = await failure(link.send(request("initialize")));
  expect(error).toMatchObject({ name: "HttpError", status: 404, wwwAuthenticate: "Basic" });
  expect(error.message).toBe(
    `HTTP 404 from ${address}: Not Found (Nor is it an HTTP+SSE server: HTTP 404 from ${address}: Not Found)`,
  );
  await failure(link.send(request("initialize")));
  expect(seen.map(({ method }) => method)).toEqual(["POST", "GET", "POST"]);
});

test("an endpoint elsewhere, something else first, or no stream is refused, and nothing is sent there", async () => {
  for (const [begins, says] of [
    [
      "event: endpoint\ndata: https://other.example/m?secret=1\n\n",
      "sent to https://other.example/m, which is another origin",
    ],
    ["event: endpoint\ndata: //other.example/m\n\n", "which is another origin"],
    ["event: endpoint\ndata: http://127.0.0.1:0x\n\n", "did not name an endpoint first"],
    ["data: /messages\n\n", "did not name an endpoint first, but sent: /messages"],
  ] as const) {
    for (const options of [forced, {}]) {
      const { link, seen, told, clock } = await old({ begins, options });
      const first = await failure(link.send(request("initialize")));
      expect(first.message).toContain(says);
      expect(seen.filter(({ path }) => !path.startsWith("/mcp"))).toEqual([]);
      expect(told).toEqual([]);
      expect(clock.pending).toBe(0);
    }
  }
  const page = await serve((_, response) => response.end("<!doctype html>"), forced);
  expect((await failure(page.link.send(request("initialize")))).message).toBe(
    `${page.address} gives no stream of events.`,
  );
});

test("a stream that names no endpoint is not waited for without end, nor one that ends before", async () => {
  const { link, pause } = await old({ begins: ": hello\n\n", options: forced });
  const silent = failure(link.send(request("initialize")));
  expect(await pause()).toBe(10_000);
  expect((await silent).message).toContain("did not name an endpoint within 10000 ms");
  expect((await failure(link.send(request("x")))).message).toContain("did not name an endpoint");

  const ends = await serve((_, response) => stream(response).end(": hello\n\n"), forced);
  expect((await failure(ends.link.send(request("initialize")))).message).toBe(
    `${ends.address} ended its stream of events.`,
  );
  expect(ends.told).toEqual([]);
});

test("the end of the stream is the end of the link: told once, and what is sent then is refused", async () => {
  const { link, told, until, end, address, clock } = await old({ options: forced });
  await link.send(request("initialize"));
  end();
  await until(() => told.length > 0);
  expect(told).toEqual([
    expect.objectContaining({ message: expect.stringContaining(`from ${address} broke`) }),
  ]);
  expect(await failure(link.send(request("x")))).toBe(told[0]);
  await link.close();
  expect(told).toHaveLength(1);
  expect(clock.pending).toBe(0);
});

test("a message that is longer than the bound ends the link, since nothing after it can be read", async () => {
  const { link, told, until, say } = await old({ options: { ...forced, maxMessageBytes: 1_000 } });
  await link.send(request("initialize"));
  say(`data: ${"x".repeat(2_000)}`);
  await until(() => told.length > 0);
  expect(told[0]).toMatchObject({ message: expect.stringContaining("a message is longer than 1000 bytes") });
});

test("a message that the endpoint refuses or never takes fails alone", async () => {
  const { link, told, seen, until, clock, origin } = await old({
    options: forced,
    onMessage(one, response, say) {
      if (one.body.id === 1) response.writeHead(400).end("Invalid message");
      else if (one.body.id !== undefined) {
        response.writeHead(202).end();
        say(event(answer(one.body.id)));
      }
    },
  });
  const refused = await failure(link.send(request("x")));
  expect(refused).toMatchObject({ name: "HttpError", status: 400 });
  expect(refused.message).toBe(`HTTP 400 from ${origin}/messages: Invalid message`);
  const hangs = failure(link.send(notification("cancelled")));
  await until(() => seen.at(-1)?.body.method === "notifications/cancelled");
  await clock.pass(10_000);
  await hangs;
  await link.send(request("x", {}, 2));
  expect(told).toEqual([]);
  expect(clock.pending).toBe(0);
});

test("closing ends the stream, what is under way, and a stream that is only being opened", async () => {
  let closed!: () => void;
  const gone = new Promise<void>((resolve) => (closed = resolve));
  const { link, seen, until, told } = await old({
    options: forced,
    onMessage: (_, response) => void response.on("close", closed),
  });
  const running = failure(link.send(request("x")));
  await until(() => seen.length === 2);
  await link.close();
  await running;
  await gone;
  expect((await failure(link.send(request("x")))).message).toContain("is closed");
  expect(told).toEqual([]);

  for (const options of [forced, {}]) {
    const opening = await serve((one, response) => {
      if (one.method === "POST") response.writeHead(405).end();
    }, options);
    const sent = failure(opening.link.send(request("initialize")));
    await opening.until(() => opening.seen.at(-1)?.method === "GET");
    await opening.link.close();
    await sent;
    expect(opening.clock.pending).toBe(0);
  }
});

test("a POST that the server does not end goes soon after its answer or its withdrawal: it would be kept for ever", async () => {
  for (const begins of [false, true]) {
    let closed = 0;
    let wake = (): void => {};
    const { link, seen, until, clock, arrived } = await old({
      options: forced,
      onMessage(one, response, say) {
        if (begins) response.writeHead(202).write("Accep");
        response.on("close", () => {
          closed++;
          wake();
        });
        if (one.body.id === 1) say(event(answer(1)));
      },
    });
    const gone = async (count: number): Promise<void> => {
      while (closed < count) await new Promise<void>((resolve) => (wake = resolve));
    };
    const answered = Promise.resolve(link.send(request("x"))).catch(() => {});
    await arrived(1);
    expect(clock.nextIn).toBe(5_000);
    await clock.pass(5_000);
    await gone(1);
    await answered;
    const withdrawn = Promise.resolve(link.send(request("x", {}, 2))).catch(() => {});
    await until(() => seen.at(-1)?.body.id === 2);
    expect(link.cancel!(2)).toBe(false);
    await clock.pass(5_000);
    await gone(2);
    await withdrawn;
    expect(clock.pending).toBe(0);
  }
});
