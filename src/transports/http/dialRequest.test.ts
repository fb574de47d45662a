import { expect, test } from "vitest";
import {
  answer,
  echo,
  event,
  failure,
  json,
  legacy,
  modern,
  request,
  serve,
  shakeHands,
  stream,
  type Handler,
} from "../../../test/support/dialed.ts";
import type { Challenge, Credentials } from "./credentials.ts";

/** Tokens `t1`, `t2` and so on: each refusal gives the next, up to `last`. */
function tokens(last: number) {
  const challenges: Challenge[] = [];
  const credentials: Credentials = {
    headers: async () => ({ authorization: `Bearer t${challenges.length + 1}` }),
    async refused(challenge) {
      if (challenges.length + 1 >= last) return false;
      challenges.push(challenge);
      return true;
    },
  };
  return { credentials, challenges };
}

const metadata = 'Bearer resource_metadata="https://example.com/.well-known/oauth-protected-resource"';

/** Wants this token of whoever asks anything. */
const wants =
  (token: string, rest: Handler, status = 401, wwwAuthenticate = metadata): Handler =>
  (one, response, req) => {
    if (one.headers.authorization === `Bearer ${token}`) rest(one, response, req);
    else response.writeHead(status, { "www-authenticate": wwwAuthenticate }).end("log in");
  };

test("credentials go with every request, and win over the configured headers", async () => {
  const { link, seen } = await serve(echo, {
    ...tokens(1),
    headers: { authorization: "Basic x", "x-team": "a" },
  });
  await link.send(modern("x"));
  expect(seen[0]?.headers).toMatchObject({
    authorization: "Bearer t1",
    "x-team": "a",
    "content-type": "application/json",
  });
});

test("a request that is refused is sent again with other credentials, and runs once", async () => {
  const { credentials, challenges } = tokens(5);
  const { link, seen, messages } = await serve(wants("t3", echo), { credentials });
  await link.send(modern("tools/call", { name: "x" }));
  expect(messages).toHaveLength(1);
  expect(seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer t1", "Bearer t2", "Bearer t3"]);
  expect(new Set(seen.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(challenges).toEqual(
    ["Bearer t1", "Bearer t2"].map((authorization) => ({
      status: 401,
      wwwAuthenticate: metadata,
      sent: { authorization },
    })),
  );
});

test("a lack of scope is a refusal, any other 403 is an answer", async () => {
  const scope = 'Bearer scope="files:write", error=insufficient_scope';
  const { credentials, challenges } = tokens(2);
  const { link } = await serve(wants("t2", echo, 403, scope), { credentials });
  await link.send(modern("x"));
  expect(challenges).toMatchObject([{ status: 403, wwwAuthenticate: scope }]);
  const other = await serve(wants("t2", echo, 403), tokens(2));
  expect(await failure(other.link.send(modern("x")))).toMatchObject({ status: 403 });
  expect(other.seen).toHaveLength(1);
});

test("what is refused in the end rejects with the challenge: no other credentials, three more tries, none at all", async () => {
  for (const [credentials, tries] of [
    [tokens(1).credentials, 1],
    [tokens(99).credentials, 4],
    [undefined, 1],
  ] as const) {
    const { link, seen, address } = await serve(wants("never", echo), credentials ? { credentials } : {});
    expect(await failure(link.send(modern("x")))).toMatchObject({
      name: "HttpError",
      status: 401,
      wwwAuthenticate: metadata,
      message: `HTTP 401 from ${address}: log in`,
    });
    expect(seen).toHaveLength(tries);
  }
});

test("credentials that cannot be had fail the request with their own error", async () => {
  const fails = () => Promise.reject(new Error("run toolgate login"));
  const headers = async () => ({});
  for (const credentials of [
    { headers: fails, refused: fails },
    { headers, refused: fails },
  ]) {
    const { link } = await serve(wants("t1", echo), { credentials });
    expect((await failure(link.send(modern("x")))).message).toBe("run toolgate login");
  }
});

test("a request that waits for credentials can be cancelled, and is never sent", async () => {
  let asked!: () => void;
  const waiting = new Promise<void>((resolve) => (asked = resolve));
  let give!: (headers: Record<string, string>) => void;
  const credentials: Credentials = {
    headers() {
      asked();
      return new Promise((resolve) => (give = resolve));
    },
    refused: async () => false,
  };
  const { link, seen } = await serve(echo, { credentials });
  const error = failure(link.send(modern("x")));
  await waiting;
  expect(link.cancel!(1)).toBe(true);
  give({});
  expect((await error).message).toContain("while it waited for credentials");
  expect(seen).toEqual([]);
});

test("a refusal whose connection breaks while somebody logs in is still told", async () => {
  let where = "";
  let hasGone!: () => void;
  const gone = new Promise<void>((resolve) => (hasGone = resolve));
  const credentials: Credentials = {
    headers: async () => ({}),
    async refused() {
      await gone;
      // By the time of an answer on another connection, the end of the first has been seen.
      await fetch(where);
      return false;
    },
  };
  const { link, address } = await serve(
    (one, response) => {
      if (one.method === "GET") return response.end();
      response.on("close", hasGone);
      return response.writeHead(401, { "content-length": 99 }).write("log", () => response.destroy());
    },
    { credentials },
  );
  where = address;
  expect(await failure(link.send(modern("x")))).toMatchObject({ status: 401 });
});

test("the server's own stream logs in again, the farewell to a session does not", async () => {
  const { credentials, challenges } = tokens(9);
  let token = "t1";
  const { link, seen, arrived, until } = await serve(
    (one, response, req) => {
      const rest = legacy((_, inSession) => inSession.writeHead(202).end());
      if (one.method === "GET" && token === "t1") token = "t2";
      wants(token, (_, ok) => {
        if (one.method === "GET") stream(ok).write(event({ jsonrpc: "2.0", method: "notifications/x" }));
        else rest(one, ok, req);
      })(one, response, req);
    },
    { credentials },
  );
  await shakeHands(link);
  await arrived(2);
  expect(challenges).toHaveLength(1);
  token = "t3";
  await link.close();
  await until(() => seen.some(({ method }) => method === "DELETE"));
  expect(challenges).toHaveLength(1);
  expect(seen.map(({ method, headers }) => [method, headers.authorization])).toEqual([
    ["POST", "Bearer t1"],
    ["POST", "Bearer t1"],
    ["GET", "Bearer t1"],
    ["GET", "Bearer t2"],
    ["DELETE", "Bearer t2"],
  ]);
});

test("a JSON-RPC error with 401 is a refusal like any other", async () => {
  const { credentials } = tokens(2);
  const { link, seen, messages } = await serve(
    ({ body }, response) => {
      const error = { code: -32001, message: "Unauthorized" };
      if (seen.length > 1) json(response, answer(body.id));
      else json(response, { jsonrpc: "2.0", id: body.id, error }, 401);
    },
    { credentials },
  );
  await link.send(request("x"));
  expect(messages).toMatchObject([{ message: { id: 1, result: {} } }]);
});

test("a refusal whose body has no end is cut off before the request is made again", async () => {
  const { credentials } = tokens(2);
  let cut!: () => void;
  const gone = new Promise<void>((resolve) => (cut = resolve));
  const { link, messages } = await serve(
    (one, response, req) => {
      if (one.headers.authorization === "Bearer t2") return echo(one, response, req);
      response.on("close", cut);
      response.writeHead(401).write("log in, ");
    },
    { credentials },
  );
  await link.send(modern("x"));
  await gone;
  expect(messages).toMatchObject([{ kind: "response" }]);
});
