import { expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fakeClock.ts";
import { boundedFetch, isSecure } from "./oauthFetch.ts";

type Answer = (url: URL, init: RequestInit) => Promise<Response>;

function bounded(answer: Answer, server = "http://lan.example:8080/mcp") {
  const clock = new FakeClock();
  const asked: string[] = [];
  const fetch = boundedFetch({
    clock,
    server: new URL(server),
    fetch: (url, init) => {
      asked.push(String(url));
      return answer(new URL(url), init ?? {});
    },
  });
  return { fetch, clock, asked };
}

test("an answer passes as it is", async () => {
  const { fetch, clock } = bounded(async (_, { method }) => Response.json({ method }, { status: 201 }));
  const response = await fetch("https://auth.example/token", { method: "POST" });
  expect(response.status).toBe(201);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toEqual({ method: "POST" });
  expect(clock.pending).toBe(0);
});

test("an answer without a body has none", async () => {
  const { fetch } = bounded(async () => new Response(null, { status: 204 }));
  expect((await fetch("https://auth.example/")).body).toBeNull();
});

test("plain http goes to the server itself only, and around this machine if it is here", async () => {
  const { fetch, asked } = bounded(async () => new Response());
  const refused = ["http://169.254.169.254/x", "http://lan.example/x", "file:///etc/passwd"];
  for (const url of [...refused, "http://127.0.0.1:9/x", "http://localhost/x"])
    await expect(fetch(url)).rejects.toThrow(/is not https, so nothing is asked there/);
  expect(asked).toEqual([]);
  for (const url of ["http://lan.example:8080/x", "https://auth.example/x"]) await fetch(url);
  expect(asked).toHaveLength(2);
  const here = bounded(async () => new Response(), "http://localhost:8080/mcp");
  await here.fetch("http://127.0.0.1:9/x");
  await expect(here.fetch("http://lan.example/x")).rejects.toThrow(/is not https/);
  const away = bounded(async () => new Response(), "https://evil.example/mcp");
  await expect(away.fetch("http://127.0.0.1:9/admin")).rejects.toThrow(/is not https/);
});

test("a body that is too long is not read to its end", async () => {
  let cancelled = false;
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(100_000)),
    cancel: () => void (cancelled = true),
  });
  const { fetch } = bounded(async () => new Response(endless));
  await expect(fetch("https://auth.example/x?secret=1")).rejects.toThrow(
    /^https:\/\/auth\.example\/x could not be read: it is longer than 1048576 bytes$/,
  );
  expect(cancelled).toBe(true);
});

test("who does not answer is not waited for", async () => {
  const { fetch, clock } = bounded(
    (_, { signal }) =>
      new Promise((__, reject) => signal!.addEventListener("abort", () => reject(signal!.reason as Error))),
  );
  const failure = fetch("https://auth.example/x").catch((error: Error) => error);
  await clock.pass(10_000);
  expect(await failure).toMatchObject({
    name: "TypeError",
    message: "https://auth.example/x could not be read: no answer within 10 s",
  });
});

test("the reason below fetch is told", async () => {
  const { fetch } = bounded(() =>
    Promise.reject(new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") })),
  );
  await expect(fetch("https://auth.example/x")).rejects.toThrow("could not be read: connect ECONNREFUSED");
});

test.each([
  ["https://auth.example", true],
  ["http://localhost:1", true],
  ["http://a.localhost", true],
  ["http://127.0.0.1", true],
  ["http://[::1]:2", true],
  ["http://127.0.0.2.example", false],
  ["http://localhost.example", false],
  ["ftp://localhost", false],
])("%s", (url, secure) => {
  expect(isSecure(new URL(url))).toBe(secure);
});
