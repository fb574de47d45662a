import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FakeIo, type FakeIoOptions } from "../../test/support/fakeIo.ts";
import type { SignIn, SignInOptions } from "../gateway/oauth.ts";
import type { HttpUpstreamConfig } from "../gateway/types.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolgate-auth-"));
  const mcpServers = {
    "git hub": { url: "https://mcp.example/mcp" },
    files: { command: "files" },
    own: { url: "https://mcp.example/own", headers: { authorization: "Bearer x" } },
    broken: { url: "https://mcp.example/broken", headers: { key: "${TOOLGATE_TEST_UNSET}" } },
  };
  await writeFile(join(folder, "toolgate.json"), JSON.stringify({ mcpServers }));
});
afterAll(() => rm(folder, { recursive: true }));

const address = new URL("https://auth.example/authorize?state=s");

/** Shows the page and resolves with `place`. */
const signsIn =
  (place: string | undefined, seen: [HttpUpstreamConfig, SignInOptions][] = []): SignIn =>
  async (upstream, options) => {
    seen.push([upstream, options]);
    if (place !== undefined) options.onAddress(address, "http://127.0.0.1:9/callback");
    return place;
  };

const open = (options: FakeIoOptions = {}) => new FakeIo({ cwd: folder, ...options });

test("prints the page for signing in, and where the tokens are then", async () => {
  const seen: [HttpUpstreamConfig, SignInOptions][] = [];
  const io = open({ signIn: signsIn("/state/oauth/github.json", seen), env: { XDG_STATE_HOME: "/state" } });
  expect(await io.run("auth", "git hub")).toBe(0);
  const [[upstream, options]] = seen as [[HttpUpstreamConfig, SignInOptions]];
  const { namespace } = upstream;
  expect(upstream).toMatchObject({ kind: "http", key: "git hub", url: "https://mcp.example/mcp" });
  expect(options).toMatchObject({ env: { XDG_STATE_HOME: "/state" }, browser: true });
  expect(options).not.toHaveProperty("port");
  expect(io.stdout.text.split("\n")).toEqual([
    `Sign in to "${namespace}" in a browser on this machine:`,
    "",
    `  ${address.href}`,
    "",
    "It then comes back to http://127.0.0.1:9/callback. Ctrl-C gives up.",
    `Signed in to "${namespace}". The tokens are in /state/oauth/github.json, for this user only.`,
    "",
  ]);
  expect(io.stderr.text).toBe("");
  expect(io.interruptible).toBe(false);
  // By its namespace too.
  expect(await open({ signIn: signsIn("x") }).run("auth", namespace)).toBe(0);
});

test("--no-browser and --port say how the browser comes and goes", async () => {
  const seen: [HttpUpstreamConfig, SignInOptions][] = [];
  await open({ signIn: signsIn("x", seen) }).run("auth", "git hub", "--no-browser", "--port", "8123");
  expect(seen[0]?.[1]).toMatchObject({ browser: false, port: 8123 });
});

test("a server that wants no sign-in is said to want none", async () => {
  const io = open({ signIn: signsIn(undefined) });
  expect(await io.run("auth", "git hub")).toBe(0);
  expect(io.stdout.text).toMatch(/^"git_hub-\w+" wants no sign-in\.\n$/);
});

test("a sign-in that fails ends with 3, and with why", async () => {
  const io = open({ signIn: () => Promise.reject(new Error('Upstream "x": nobody\u001B[2J\nthere')) });
  expect(await io.run("auth", "git hub")).toBe(3);
  expect(io.stderr.text).toContain('error Upstream "x": nobody [2J there\n');
});

test("Ctrl-C ends with 130, and ends the sign-in", async () => {
  let cancelled: unknown;
  const waits: SignIn = (_, { cancellation }) =>
    new Promise((__, reject) => {
      cancellation.onCancel((reason) => {
        cancelled = reason;
        reject(new Error("it was interrupted"));
      });
      io.interrupt();
    });
  const io = open({ signIn: waits });
  expect(await io.run("auth", "git hub")).toBe(130);
  expect(cancelled).toBe("interrupted");
  expect(io.stderr.text).toBe("");
});

test.each([
  [["auth"], "Name the server to sign in to"],
  [["auth", "a", "b"], '"b" is one argument too many.'],
  [["auth", "file"], 'There is no server "file" in the configuration. Did you mean "files"?'],
  [["auth", "files"], '"files" is not reached over HTTP: there is no sign-in.'],
  [["auth", "own"], '"own" has an "Authorization" in its "headers", which is sent instead of tokens.'],
  [["auth", "broken"], '"broken" cannot be used: the environment variable TOOLGATE_TEST_UNSET is not set.'],
  [["auth", "files", "--port", "0"], "--port 0: a port is a number from 1 to 65535."],
  [["auth", "files", "--port", "65536"], "--port 65536"],
  [["auth", "files", "--port", "http"], "--port http"],
])("%j is wrong usage", async (argv, message) => {
  const io = open({ signIn: () => expect.unreachable() });
  expect(await io.run(...argv)).toBe(2);
  expect(io.stderr.text).toContain(message);
});
