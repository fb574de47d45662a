import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Grant } from "../mcp/client/oauth.ts";
import { TokenStore, type TokenStoreOptions } from "./tokenStore.ts";

let folder: string;
let logged: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolgate-tokens-"));
  logged = [];
});
afterEach(() => rm(folder, { recursive: true }));

const url = "https://mcp.example/mcp";
const grant: Grant = {
  issuer: "https://auth.example",
  client: { client_id: "c" },
  redirectUrl: "http://127.0.0.1:1/callback",
  tokens: { access: "a", refresh: "r" },
};

/** Each is as another process. */
function open(options: Partial<TokenStoreOptions> = {}): TokenStore {
  return new TokenStore({
    env: { XDG_STATE_HOME: folder },
    namespace: "it",
    url,
    log: (level, message) => void logged.push(`${level} ${message}`),
    sleep: () => new Promise((resolve) => setImmediate(resolve)),
    ...options,
  });
}

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

test("what one process keeps another one reads, and no other user", async () => {
  const store = open();
  expect(await store.load()).toBeUndefined();
  expect(await readdir(folder)).toEqual([]);
  expect(await store.update(async () => grant)).toEqual(grant);
  expect(await open().load()).toEqual(grant);
  expect(store.place).toMatch(/\/toolgate\/oauth\/it-[0-9a-f]{16}\.json$/);
  expect(await modeOf(store.place)).toBe(0o600);
  expect(await modeOf(dirname(store.place))).toBe(0o700);
  expect(await readdir(dirname(store.place))).toHaveLength(1);
  expect(logged).toEqual([]);
});

test("each server, and each entry of the configuration, has a file of its own", async () => {
  await open().update(async () => grant);
  for (const other of [
    { url: "https://mcp.example/other" },
    { url: `${url}?tenant=2` },
    { namespace: "second" },
  ])
    expect(await open(other).load()).toBeUndefined();
  expect(await open({ url: "https://MCP.example:443/mcp#part" }).load()).toEqual(grant);
});

test("what does not change is not written, nor is anything where the change fails", async () => {
  const store = open();
  await store.update(async () => grant);
  const before = await stat(store.place);
  await store.update(async (now) => now);
  expect(await store.update(async () => undefined)).toEqual(grant);
  await expect(store.update(() => Promise.reject(new Error("no luck")))).rejects.toThrow("no luck");
  expect((await stat(store.place)).ino).toBe(before.ino);
  expect(await store.load()).toEqual(grant);
});

test("changes of several processes come one after the other, and none is lost", async () => {
  const add = (scope: string) =>
    open().update(async (now) => {
      await new Promise((resolve) => setImmediate(resolve));
      return { ...grant, scope: `${now?.scope ?? ""}${scope}` };
    });
  await Promise.all(["a", "b", "c", "d"].map(add));
  const { scope = "" } = (await open().load())!;
  expect(scope.split("").toSorted().join("")).toBe("abcd");
});

test.each([-121_000, 121_000])(
  "the lock of a process that is gone does not hold for ever: %i ms",
  async (ms) => {
    const store = open();
    await store.update(async () => grant);
    const lock = `${store.place}.lock`;
    await writeFile(lock, "");
    const long = new Date(Date.now() + ms);
    let looked = 0;
    const sleep = async (): Promise<void> => {
      looked += 1;
      if (looked === 3) await utimes(lock, long, long);
    };
    await open({ sleep }).update(async () => ({ ...grant, scope: "new" }));
    expect(looked).toBe(3);
    expect((await store.load())?.scope).toBe("new");
  },
);

test("what others could read is closed to them, and that is said", async () => {
  const store = open();
  await store.update(async () => grant);
  await chmod(store.place, 0o644);
  await chmod(dirname(store.place), 0o755);
  await store.load();
  await store.update(async (now) => now);
  expect(await modeOf(store.place)).toBe(0o600);
  expect(await modeOf(dirname(store.place))).toBe(0o700);
  expect(logged).toEqual([
    expect.stringMatching(
      /^warning \S+\.json was open to other users .* sign in again with "toolgate auth it"\.$/,
    ),
    expect.stringMatching(/^warning \S+oauth was open to other users/),
  ]);
});

test.each([
  ["", "empty"],
  ["{", "no JSON"],
  ["[]", "no object"],
  [JSON.stringify({ version: 2, resource: url, grant }), "of another version"],
  [JSON.stringify({ version: 1, resource: "https://evil.example/", grant }), "for another server"],
  [JSON.stringify({ version: 1, resource: url }), "without a grant"],
  [JSON.stringify({ version: 1, resource: url, grant: { ...grant, client: {} } }), "without a client"],
  [
    JSON.stringify({ version: 1, resource: url, grant: { ...grant, tokens: { access: 1 } } }),
    "without a token",
  ],
])("a file that is not ours is refused with what to do: %s", async (text) => {
  const store = open();
  await mkdir(dirname(store.place), { recursive: true });
  await writeFile(store.place, text, { mode: 0o600 });
  await expect(store.load()).rejects.toThrow(
    `${store.place} does not hold what Toolgate keeps there. Remove it and run "toolgate auth it".`,
  );
  expect(await readFile(store.place, "utf8")).toBe(text);
});

test("a folder that cannot be made is named with what to do", async () => {
  await writeFile(join(folder, "toolgate"), "a file");
  const store = open();
  await expect(store.update(async () => grant)).rejects.toThrow(
    /^The sign-in of "it" cannot be kept in \S+: .*Make that path readable and writable/,
  );
});
