import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { listenForRedirect, type RedirectListener } from "./redirectListener.ts";

const open: RedirectListener[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.close()));
});

async function listen(port = 0): Promise<RedirectListener> {
  const listener = await listenForRedirect(port);
  open.push(listener);
  return listener;
}

test("the browser's way back gives its parameters, and a page that nobody keeps", async () => {
  const { redirectUrl, answer } = await listen();
  expect(redirectUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  const answered = answer("s1");
  const response = await fetch(`${redirectUrl}?code=a%20b&state=s1&iss=https%3A%2F%2Fx%2F%3Fy`);
  expect(response.status).toBe(200);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("referrer-policy")).toBe("no-referrer");
  expect(await response.text()).toContain("This page can be closed.");
  expect(Object.fromEntries(await answered)).toEqual({ code: "a b", state: "s1", iss: "https://x/?y" });
});

test("what has another state, path or method is nobody's, and does not end the wait", async () => {
  const { redirectUrl, answer } = await listen();
  const answered = answer("s1");
  const { origin } = new URL(redirectUrl);
  for (const [url, method] of [
    [`${redirectUrl}?code=x&state=s2`, "GET"],
    [`${redirectUrl}?code=x`, "GET"],
    [`${redirectUrl}`, "GET"],
    [`${redirectUrl}?code=x&state=s1`, "POST"],
    [`${origin}/favicon.ico?code=x&state=s1`, "GET"],
  ] as const)
    expect((await fetch(url, { method })).status).toBe(404);
  await fetch(`${redirectUrl}?code=y&state=s1`);
  expect((await answered).get("code")).toBe("y");
  // The same answer twice: a page that was loaded again.
  expect((await fetch(`${redirectUrl}?code=z&state=s1`)).status).toBe(404);
});

test("a connection that says nothing does not keep it open", async () => {
  const { redirectUrl, close } = await listen();
  const { hostname, port } = new URL(redirectUrl);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  const ended = once(socket, "close");
  await close();
  expect(await ended).toEqual([false]);
});

test("a port that is taken rejects with what to do", async () => {
  const { redirectUrl } = await listen();
  await expect(listenForRedirect(Number(new URL(redirectUrl).port))).rejects.toMatchObject({
    code: "EADDRINUSE",
    message: expect.stringContaining("choose another port with --port") as string,
  });
});
