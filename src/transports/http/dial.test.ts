import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  answer,
  echo,
  event,
  failure,
  json,
  legacy,
  modern,
  notification,
  request,
  serve,
  shakeHands,
  stream,
} from "../../../test/support/dialed.ts";
import { FakeClock } from "../../../test/support/fakeClock.ts";
import { dialHttp, SessionLost } from "./dial.ts";

test("a modern request repeats its version, method and name in headers", async () => {
  const { link, seen, messages } = await serve(echo, {
    headers: { Authorization: "Bearer t", ACCEPT: "no" },
  });
  await link.send(modern("tools/call", { name: "größe" }), { headers: { "Mcp-Param-Region": "eu" } });
  await link.send(modern("resources/read", { uri: "file:///x" }, 2));
  await link.send(modern("tools/list", {}, 3));
  expect(seen[0]?.headers).toMatchObject({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    authorization: "Bearer t",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": `=?base64?${Buffer.from("größe").toString("base64")}?=`,
    "mcp-param-region": "eu",
  });
  expect(seen[1]?.headers["mcp-name"]).toBe("file:///x");
  expect(seen[2]?.headers).not.toHaveProperty("mcp-name");
  expect(messages.map((one) => one.kind === "response" && one.message.id)).toEqual([1, 2, 3]);
});

test("a legacy session: no version before it is agreed, then version and session on all, and a DELETE at the end", async () => {
  const { link, seen } = await serve(
    legacy((one, response, req) => {
      if (one.method !== "POST") response.writeHead(405).end();
      else if (one.body.id === undefined) response.writeHead(202).end();
      else echo(one, response, req);
    }),
  );
  await shakeHands(link);
  await link.send(request("tools/call", { name: "x" }, 2));
  await link.close();
  const [first, ...others] = seen;
  expect(first?.headers).not.toHaveProperty("mcp-protocol-version");
  expect(first?.headers).not.toHaveProperty("mcp-session-id");
  expect(others.map(({ method }) => method).toSorted()).toEqual(["DELETE", "GET", "POST", "POST"]);
  for (const { headers } of others) {
    expect(headers).toMatchObject({ "mcp-protocol-version": "2025-11-25", "mcp-session-id": "s1" });
    expect(headers).not.toHaveProperty("mcp-method");
  }
});

test("an event stream gives its messages in order, however its bytes are split", async () => {
  const events = [
    "\uFEFF: keep-alive\r\n\r\n",
    "id: 0\ndata:\n\n",
    "event: ping\ndata: {}\n\n",
    event({ jsonrpc: "2.0", method: "notifications/progress", params: { message: "größer 🙂" } }),
    `event: message\r\ndata: {"jsonrpc":"2.0",\r\ndata: "id":1,"result":{"text":"日本"}}\r\n\r\n`,
  ];
  const bytes = Buffer.from(events.join(""));
  const cuts = fc.array(fc.nat(bytes.length), { maxLength: 12 });
  let chunks: Buffer[] = [];
  const { link, messages } = await serve((_, response) => {
    stream(response);
    // Each piece is flushed before the next, so that pieces arrive as such.
    const next = (): void => {
      const chunk = chunks.shift();
      if (!chunk) response.end();
      else response.write(chunk, () => setImmediate(next));
    };
    next();
  });
  await fc.assert(
    fc.asyncProperty(cuts, async (at) => {
      const edges = [0, ...at.toSorted((a, b) => a - b), bytes.length];
      chunks = edges
        .slice(1)
        .map((edge, index) => bytes.subarray(edges[index], edge))
        .filter(({ length }) => length > 0);
      messages.length = 0;
      await link.send(request("x"));
      expect(messages.map(({ kind }) => kind)).toEqual(["notification", "response"]);
      expect(messages).toMatchObject([
        { message: { params: { message: "größer 🙂" } } },
        { message: { result: { text: "日本" } } },
      ]);
    }),
    { numRuns: 25 },
  );
});

test("a notification wants no answer, whatever the server says", async () => {
  const { link, messages, seen } = await serve((_, response) => {
    if (seen.length === 1) response.writeHead(202).end();
    else if (seen.length === 2) json(response, answer(1));
    else stream(response).write(event(answer(1)));
  });
  for (let n = 0; n < 3; n++) await link.send(notification("cancelled"));
  expect(messages).toEqual([]);
});

test("a notification that the server never answers does not hold its connection for ever", async () => {
  let came!: () => void;
  const there = new Promise<void>((resolve) => (came = resolve));
  const { link, clock, address } = await serve(() => came());
  const error = failure(link.send(notification("cancelled")));
  await there;
  await clock.pass(10_000);
  expect((await error).message).toContain(address);
  expect(clock.pending).toBe(0);
});

test("a batch in one body is passed on as one", async () => {
  const { link, messages } = await serve((_, response) => json(response, [answer(1), answer(2)]));
  await link.send(request("x"));
  expect(messages).toMatchObject([{ kind: "batch", messages: [{ kind: "response" }, { kind: "response" }] }]);
});

test("a JSON-RPC error in an error's body is the answer, with our id or with none", async () => {
  for (const id of [{ id: 1 }, { id: null }, {}]) {
    const error = { code: -32601, message: "no such method" };
    const { link, messages } = await serve((_, response) =>
      json(response, { jsonrpc: "2.0", ...id, error }, 404),
    );
    await link.send(modern("x"));
    expect(messages).toEqual([{ kind: "response", message: { jsonrpc: "2.0", id: 1, error } }]);
  }
});

test("any other error rejects with status, address without query, and the start of the body", async () => {
  const { link, address, messages } = await serve((_, response) =>
    response.writeHead(503).end(`<h1>down\n  for</h1>${"x".repeat(500)}`),
  );
  const error = await failure(link.send(request("x")));
  expect(error).toMatchObject({ name: "HttpError", status: 503 });
  expect(error.message).toBe(`HTTP 503 from ${address}: <h1>down for</h1>${"x".repeat(183)}`);
  expect(messages).toEqual([]);
});

test("a refused login is no answer of the server's, even if it looks like one", async () => {
  const error = { code: -32001, message: "Unauthorized" };
  const { link } = await serve((_, response) => json(response, { jsonrpc: "2.0", id: 1, error }, 401));
  expect(await failure(link.send(request("x")))).toMatchObject({ name: "HttpError", status: 401 });
});

test("a redirect is not followed, and the error names where it led without secrets", async () => {
  const { link, seen, address } = await serve(
    (_, response) => response.writeHead(307, { location: "https://u:p@other.example/mcp?token=1#f" }).end(),
    { headers: { authorization: "Bearer t" } },
  );
  const error = await failure(link.send(request("x")));
  expect(error.message).toBe(
    `HTTP 307 from ${address}: it redirects to https://other.example/mcp, and redirects are not followed. ` +
      "If that is the server, configure that address.",
  );
  expect(seen).toHaveLength(1);
});

test("a page that is no MCP answer is refused with its beginning", async () => {
  const { link } = await serve((_, response) => response.end("<!doctype html>"));
  expect((await failure(link.send(request("x")))).message).toContain(
    "something that is not MCP: <!doctype html>",
  );
});

test("a response without the answer rejects: empty, of another request, a stream that just ends", async () => {
  const { link, seen } = await serve((_, response) => {
    if (seen.length === 1) response.writeHead(202).end();
    else if (seen.length === 2) json(response, answer(99));
    else stream(response).end(event(answer(98)));
  });
  for (let n = 0; n < 3; n++)
    expect((await failure(link.send(request("x")))).message).toMatch(
      /ended its response \(HTTP 20\d\) without an answer/,
    );
});

test("a connection that is cut rejects: before the head, in a body, in a stream", async () => {
  const { link, seen } = await serve((_, response) => {
    if (seen.length === 1) return response.destroy();
    if (seen.length === 2)
      response.writeHead(200, { "content-type": "application/json", "content-length": "99" });
    else stream(response);
    return response.write('{"jsonrpc"', () => response.destroy());
  });
  expect((await failure(link.send(request("x")))).message).toMatch(
    /^Could not reach http:\/\/127\.0\.0\.1:\d+\/mcp: /,
  );
  for (let n = 0; n < 2; n++)
    expect((await failure(link.send(request("x")))).message).toMatch(
      /^The connection to \S+ broke before the answer/,
    );
});

test("a stream that is cut after the answer does not matter", async () => {
  const { link, messages } = await serve((_, response) => {
    stream(response).write(event(answer(1)), () => response.destroy());
  });
  await link.send(request("x"));
  expect(messages).toHaveLength(1);
});

test("a stream that stays open after the answer is closed by and by", async () => {
  const { link, arrived, clock } = await serve(
    (_, response) => void stream(response).write(event(answer(1))),
  );
  const sent = link.send(request("x"));
  await arrived(1);
  expect(clock.pending).toBe(1);
  await clock.pass(5_000);
  await sent;
  expect(clock.pending).toBe(0);
});

test("what is longer than the bound is not read to its end: body, event, endless line", async () => {
  const { link, messages, seen } = await serve(
    (_, response, req) => {
      req.socket.on("error", () => {});
      if (seen.length === 1) return json(response, answer(1, { text: "x".repeat(2_000) }));
      stream(response);
      // Three bytes a character: fewer characters than the bound has bytes.
      if (seen.length === 2) return response.write(event(answer(1, { text: "日".repeat(500) })));
      if (seen.length === 3) return response.write(`data: ${"x".repeat(2_000)}`);
      return response.end(event(answer(1, { text: "x".repeat(900) })));
    },
    { maxMessageBytes: 1_000 },
  );
  for (let n = 0; n < 3; n++) await link.send(request("x"));
  expect(messages).toEqual(Array(3).fill({ kind: "invalid", reason: "size", limit: 1_000, id: 1 }));
  await link.send(request("x"));
  expect(messages[3]).toMatchObject({ kind: "response" });
});

test("a session that the server does not know is lost for good, and there is no DELETE for it", async () => {
  for (const [status, body] of [
    [404, ""],
    [404, '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}'],
    [
      400,
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}',
    ],
  ] as const) {
    const { link, seen } = await serve(
      legacy((one, response) => {
        if (one.body.id === undefined) response.writeHead(one.method === "GET" ? 405 : 202).end();
        else response.writeHead(status).end(body);
      }),
    );
    await shakeHands(link);
    expect(await failure(link.send(request("x", {}, 2)))).toBeInstanceOf(SessionLost);
    expect(await failure(link.send(request("x", {}, 3)))).toBeInstanceOf(SessionLost);
    await link.close();
    expect(seen.filter(({ method, body: { id } }) => method === "DELETE" || id === 3)).toEqual([]);
  }
});

test("an unknown method in a session is not a lost session", async () => {
  const error = { code: -32601, message: "Method not found" };
  const { link, messages } = await serve(
    legacy((one, response) => {
      if (one.body.id === undefined) response.writeHead(one.method === "GET" ? 405 : 202).end();
      else json(response, { jsonrpc: "2.0", id: 2, error }, 404);
    }),
  );
  await shakeHands(link);
  await link.send(request("x", {}, 2));
  expect(messages.at(-1)).toMatchObject({ message: { id: 2, error } });
});

test("a cancelled modern request closes its stream; a legacy one leaves that to a notification", async () => {
  let gone!: () => void;
  const closed = new Promise<void>((resolve) => (gone = resolve));
  const { link, arrived, clock } = await serve((_, response) => {
    response.on("close", gone);
    stream(response).write(event({ jsonrpc: "2.0", method: "notifications/progress" }));
  });
  const first = failure(link.send(modern("tools/call", { name: "x" })));
  await arrived(1);
  expect(link.cancel!(1)).toBe(true);
  await closed;
  expect((await first).message).toContain("broke before the answer");
  const second = failure(link.send(request("tools/call", { name: "x" }, 2)));
  await arrived(2);
  expect(link.cancel!(2)).toBe(false);
  await clock.pass(5_000);
  await second;
  expect(link.cancel!(2)).toBe(false);
});

test("closing ends every request, and later ones are refused", async () => {
  const { link, arrived, clock } = await serve((_, response) => {
    stream(response).write(event({ jsonrpc: "2.0", method: "notifications/progress" }));
  });
  const open = failure(link.send(request("x")));
  await arrived(1);
  await link.close();
  await open;
  expect((await failure(link.send(request("x")))).message).toContain("is closed");
  expect(clock.pending).toBe(0);
});

test("nothing listens there: the error names the address", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const link = await dialHttp({ url: `http://u:pw@127.0.0.1:${port}/mcp?k=1`, clock: new FakeClock() })({
    message: () => {},
    closed: () => {},
  });
  const error = await failure(link.send(request("x")));
  expect(error.message).toMatch(new RegExp(`^Could not reach http://127.0.0.1:${port}/mcp: .*ECONNREFUSED`));
  await link.close();
});

test("the server's own stream delivers, and comes back from its last event with growing pauses", async () => {
  const gets: IncomingMessage["headers"][] = [];
  let came = (): void => {};
  const { link, arrived, clock } = await serve(
    legacy((one, response) => {
      if (one.method !== "GET") return response.writeHead(one.method === "POST" ? 202 : 200).end();
      gets.push(one.headers);
      came();
      if (gets.length === 2) return response.writeHead(502).end();
      const id = gets.length === 1 ? "id: é世1\nretry: 4000\n" : "";
      return stream(response).end(id + event({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }));
    }),
  );
  const get = async (count: number): Promise<void> => {
    while (gets.length < count) {
      // The pause begins when this side has seen the end, some real moments later.
      while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
      const next = new Promise<void>((resolve) => (came = resolve));
      // What the server asked for is longer than the pause of our own.
      expect(clock.nextIn).toBe(4_000);
      await clock.pass(4_000);
      await next;
    }
  };
  await shakeHands(link);
  await arrived(2);
  expect(gets[0]).toMatchObject({ accept: "text/event-stream", "mcp-session-id": "s1" });
  expect(gets[0]).not.toHaveProperty("last-event-id");
  await get(2);
  expect(Buffer.from(gets[1]!["last-event-id"] as string, "latin1").toString()).toBe("é世1");
  await get(3);
  expect(await arrived(3)).toMatchObject([{}, { kind: "notification" }, { kind: "notification" }]);
  await link.close();
  expect(clock.pending).toBe(0);
});

test("what may have been missed is told: the server's stream begins anew, or is no more", async () => {
  for (const [again, missed] of [
    [200, 1],
    [405, 1],
    [503, 0],
    [409, 0],
  ] as const) {
    let gets = 0;
    let answered!: () => void;
    const second = new Promise<void>((resolve) => (answered = resolve));
    const { link, pause, told } = await serve(
      legacy((one, response) => {
        if (one.method !== "GET") return response.writeHead(202).end();
        gets += 1;
        if (gets === 1) return stream(response).end(": hello\n\n");
        if (again === 200) stream(response).write(": hello again\n\n", answered);
        else response.writeHead(again).end(answered);
      }),
    );
    await shakeHands(link);
    await pause();
    await second;
    // By the time of three more answers, the one to GET has been read.
    for (let n = 0; n < 3; n++) await link.send(notification("cancelled"));
    expect(told).toHaveLength(missed);
  }
});

test("a session of which the server's stream says that it is gone ends the link", async () => {
  let gets = 0;
  const { link, seen, told, pause, until, clock, address } = await serve(
    legacy((one, response) => {
      if (one.body.id === 2) return;
      if (one.method !== "GET") return response.writeHead(202).end();
      gets += 1;
      if (gets === 1) stream(response).end(": hello\n\n");
      else response.writeHead(404).end();
    }),
  );
  await shakeHands(link);
  const running = failure(link.send(request("tools/call", {}, 2)));
  await pause();
  await until(() => told.length > 0);
  expect(told).toEqual([new Error(`${address} does not know the session any more (HTTP 404).`)]);
  // It may have run. What is sent from now on has not.
  expect(await running).not.toBeInstanceOf(SessionLost);
  expect(told[0]).not.toBeInstanceOf(SessionLost);
  expect(await failure(link.send(request("x", {}, 3)))).toBeInstanceOf(SessionLost);
  await link.close();
  expect(seen.filter(({ method, body }) => method === "DELETE" || body.id === 3)).toEqual([]);
  expect(clock.pending).toBe(0);
});

test("a server without a stream of its own is asked once", async () => {
  let asked!: () => void;
  const once = new Promise<void>((resolve) => (asked = resolve));
  const { link, seen, clock } = await serve(
    legacy((one, response) => {
      response.writeHead(one.method === "GET" ? 405 : 202).end(one.method === "GET" ? asked : undefined);
    }),
  );
  await shakeHands(link);
  await once;
  // By the time of three more answers, the one to GET has been read.
  for (let n = 0; n < 3; n++) await link.send(notification("cancelled"));
  expect(clock.pending).toBe(0);
  expect(seen.filter(({ method }) => method === "GET")).toHaveLength(1);
});

test("what comes in answer to a request is told with it, what comes by itself is not", async () => {
  const asks = { jsonrpc: "2.0", id: "s1", method: "elicitation/create" };
  const { link, causes, messages, arrived } = await serve(
    legacy((one, response) => {
      if (one.method === "GET") return stream(response).write(event(asks));
      if (one.body.id === undefined) return response.writeHead(202).end();
      if (one.body.id === 7) return stream(response).end(event(asks) + event(answer(7)));
      return json(response, { jsonrpc: "2.0", id: null, error: { code: -32602, message: "no" } }, 400);
    }),
  );
  await shakeHands(link);
  await arrived(2);
  await link.send(request("tools/call", {}, 7));
  await link.send(request("tools/call", {}, 8));
  expect(messages.map(({ kind }) => kind)).toEqual([
    "response",
    "request",
    "request",
    "response",
    "response",
  ]);
  expect(causes).toEqual([1, undefined, 7, 7, 8]);
});

test("an answer to the server's question that it refuses, or never takes, ends nothing", async () => {
  const { link, seen, told, until, clock } = await serve(
    legacy((one, response, req) => {
      if (one.method === "GET") return response.writeHead(405).end();
      if (one.body.method === undefined) return one.body.id === 5 ? response.writeHead(500).end() : undefined;
      return one.body.id === undefined ? response.writeHead(202).end() : echo(one, response, req);
    }),
  );
  await shakeHands(link);
  const reply = (id: number) => failure(link.send({ jsonrpc: "2.0", id, result: {} }));
  expect(await reply(5)).toMatchObject({ name: "HttpError", status: 500 });
  const hangs = reply(6);
  await until(() => seen.at(-1)?.body.id === 6);
  await clock.pass(10_000);
  await hangs;
  await link.send(request("x", {}, 2));
  expect(told).toEqual([]);
  expect(seen.at(-2)?.headers).toMatchObject({
    "mcp-session-id": "s1",
    "mcp-protocol-version": "2025-11-25",
  });
});

test("a modern stream that ends or breaks is not taken up again, whatever ids its events have", async () => {
  const { link, seen } = await serve((_, response) => {
    stream(response).write(`id: 1\nretry: 1\n${event({ jsonrpc: "2.0", method: "notifications/x" })}`, () => {
      if (seen.length === 1) response.end();
      else response.destroy();
    });
  });
  const listen = () => failure(link.send(modern("subscriptions/listen")));
  expect((await listen()).message).toContain("without an answer");
  expect((await listen()).message).toContain("broke before the answer");
  expect(seen.map(({ method }) => method)).toEqual(["POST", "POST"]);
});

test("a modern request for a task names it in a header", async () => {
  const { link, seen } = await serve(echo);
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"])
    await link.send(modern(method, { taskId: "t-1" }));
  expect(seen.map(({ headers }) => headers["mcp-name"])).toEqual(["t-1", "t-1", "t-1"]);
});

test("line breaks of any kind, split anywhere, end the lines of a stream", async () => {
  const text = JSON.stringify(answer(1, { text: "größe" }));
  for (const end of ["\n", "\r", "\r\n"]) {
    const bytes = Buffer.from([": hello", "", "id: 1", "data:", `data: ${text}`, "", ""].join(end));
    const { link, messages } = await serve((_, response) => {
      stream(response);
      const next = (at: number): void => {
        if (at < bytes.length) response.write(bytes.subarray(at, at + 1), () => setImmediate(next, at + 1));
        else response.end();
      };
      next(0);
    });
    await link.send(modern("x"));
    expect(messages).toMatchObject([{ kind: "response", message: { result: { text: "größe" } } }]);
  }
});

test("an event of more lines than the bound has room for is too long, however short they are", async () => {
  const { link, messages } = await serve((_, response) => stream(response).write("data:\n".repeat(1_000)), {
    maxMessageBytes: 10_000,
  });
  await link.send(modern("x"));
  expect(messages).toEqual([{ kind: "invalid", reason: "size", limit: 10_000, id: 1 }]);

  const many = await serve(
    (_, response) => stream(response).end(": hi\n\n".repeat(1_000) + event(answer(1))),
    { maxMessageBytes: 10_000 },
  );
  await many.link.send(modern("x"));
  expect(many.messages).toMatchObject([{ kind: "response" }]);
});
