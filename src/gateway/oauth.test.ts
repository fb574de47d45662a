import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type os from "node:os";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FakeClock, settle } from "../../test/support/fakeClock.ts";
import { serveOAuth } from "../../test/support/oauthServer.ts";
import { Cancellation } from "../core/cancellation.ts";
import { listenForRedirect } from "../transports/http/redirectListener.ts";
import { credentialsFor, signIn, type SignInOptions } from "./oauth.ts";
import type { HttpUpstreamConfig } from "./types.ts";

const user = vi.hoisted(() => ({ exists: true }));
vi.mock("node:os", async (load) => {
  const real = await load<typeof os>();
  const userInfo = (): { homedir: string } => {
    if (!user.exists) throw new Error("no such user");
    return real.userInfo();
  };
  return { ...real, userInfo };
});

let folder: string;
const cleanups: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolgate-oauth-"));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  await rm(folder, { recursive: true });
});

async function serve(options: Parameters<typeof serveOAuth>[0] = {}) {
  const server = await serveOAuth(options);
  cleanups.push(() => server.close());
  return server;
}

const upstream = (url: string, more: Partial<HttpUpstreamConfig> = {}): HttpUpstreamConfig => ({
  kind: "http",
  key: "it",
  namespace: "it",
  url,
  headers: {},
  validateArguments: false,
  isolation: "shared",
  ...more,
});

/** The options of a person whose browser is `open`. */
function person(open: (address: URL) => void, more: Partial<SignInOptions> = {}): SignInOptions {
  return {
    env: { XDG_STATE_HOME: folder },
    log: () => {},
    browser: false,
    cancellation: new Cancellation(),
    onAddress: open,
    ...more,
  };
}

/** A browser that agrees to everything. */
const agree = (address: URL): void => void fetch(address);
const effects = () => ({ env: { XDG_STATE_HOME: folder }, log: () => {} });

test("a person signs in, and the gateway uses the tokens", async () => {
  const server = await serve();
  const config = upstream(server.url);
  const credentials = credentialsFor(config, effects())!;
  expect(await credentials.headers()).toEqual({});
  const place = await signIn(config, person(agree));
  expect(place).toMatch(/\/toolgate\/oauth\/it-[0-9a-f]{16}\.json$/);
  expect(await credentials.refused({ status: 401, wwwAuthenticate: undefined })).toBe(true);
  const headers = await credentials.headers();
  expect(server.oauth.accepts(headers["authorization"])).toBe(true);
  expect(await readFile(place!, "utf8")).toContain(headers["authorization"]!.replace("Bearer ", ""));
});

test("a server that refuses only what comes after the handshake wants a sign-in too", async () => {
  const server = await serve({ freely: ["server/discover"] });
  expect(await signIn(upstream(server.url), person(agree))).toBeDefined();
});

test("a server that serves everybody wants none, and nobody is asked", async () => {
  const server = await serve({ freely: "all" });
  const options = person(() => expect.unreachable());
  expect(await signIn(upstream(server.url), options)).toBeUndefined();
});

test("a server that cannot be reached is an error that says so", async () => {
  const server = await serve();
  await server.close();
  await expect(signIn(upstream(server.url), person(agree))).rejects.toThrow(
    /^Upstream "it" could not be connected: Could not reach /,
  );
});

test("the next sign-in comes back to the same port, and to another one where that is taken", async () => {
  const server = await serve();
  const ports: string[] = [];
  const options = person((address) => {
    ports.push(new URL(address.searchParams.get("redirect_uri")!).port);
    agree(address);
  });
  await signIn(upstream(server.url), options);
  await signIn(upstream(server.url), options);
  expect(ports[1]).toBe(ports[0]);
  const other = await listenForRedirect(Number(ports[0]));
  cleanups.push(() => other.close());
  await signIn(upstream(server.url), options);
  expect(ports[2]).not.toBe(ports[0]);
});

test("a port that is asked for is taken, or it is an error", async () => {
  const server = await serve();
  const taken: Server = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as AddressInfo;
  await expect(signIn(upstream(server.url), person(agree, { port }))).rejects.toThrow(
    `Upstream "it": Port ${port} on 127.0.0.1 is in use.`,
  );
  await new Promise((resolve) => taken.close(resolve));
  const options = person((address) => {
    expect(address.searchParams.get("redirect_uri")).toBe(`http://127.0.0.1:${port}/callback`);
    agree(address);
  });
  await signIn(upstream(server.url), { ...options, port });
});

test("the browser is opened where that is wanted", async () => {
  const server = await serve();
  const env = {
    XDG_STATE_HOME: folder,
    PATH: process.env["PATH"],
    BROWSER: `${process.execPath} ${join(import.meta.dirname, "../../test/fixtures/browser.mjs")}`,
  };
  const options = person(() => {}, { env, browser: true });
  expect(await signIn(upstream(server.url), options)).toContain(folder);
});

test.each([
  [
    "a person who does not answer",
    (clock: FakeClock) => clock.advance(300_000),
    "no answer came from the browser within 5 minutes",
  ],
  ["Ctrl-C", (_: FakeClock, cancellation: Cancellation) => cancellation.cancel("x"), "it was interrupted"],
])("%s ends it, and nothing stays open", async (_, end, message) => {
  const server = await serve();
  const clock = new FakeClock();
  const cancellation = new Cancellation();
  let redirect = "";
  const failure = signIn(
    upstream(server.url),
    person(
      (address) => {
        redirect = address.searchParams.get("redirect_uri")!;
        void settle().then(() => end(clock, cancellation));
      },
      { clock, cancellation },
    ),
  );
  await expect(failure).rejects.toThrow(`Upstream "it": the sign-in at ${server.issuer} failed: ${message}`);
  expect(clock.pending).toBe(0);
  await expect(fetch(redirect)).rejects.toThrow("fetch failed");
});

test("an upstream with an Authorization of its own has no tokens, nor has a user without a home", async () => {
  const url = "https://mcp.example/mcp";
  expect(credentialsFor(upstream(url, { headers: { AUTHORIZATION: "Basic x" } }), effects())).toBeUndefined();
  user.exists = false;
  expect(credentialsFor(upstream(url), { env: {}, log: () => {} })).toBeUndefined();
  user.exists = true;
  expect(credentialsFor(upstream(url), { env: {}, log: () => {} })).toBeDefined();
});
