import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ensureToken, isToken, stateFolder, TokenError } from "./token.ts";

let home: string;
let env: Record<string, string>;
let file: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "toolgate-token-"));
  env = { XDG_STATE_HOME: home };
  file = join(home, "toolgate", "token");
});

afterEach(() => rm(home, { recursive: true, force: true }));

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

test("the first start makes a token of 32 bytes that only this user can read", async () => {
  const made = await ensureToken(env);
  expect(made).toMatchObject({ file, created: true, tightened: [] });
  expect(Buffer.from(made.token, "base64url")).toHaveLength(32);
  expect(await readFile(file, "utf8")).toBe(`${made.token}\n`);
  expect(await modeOf(file)).toBe(0o600);
  expect(await modeOf(join(home, "toolgate"))).toBe(0o700);
});

test("the next start reads the same token", async () => {
  const first = await ensureToken(env);
  expect(await ensureToken(env)).toEqual({ ...first, created: false });
});

test("many first starts at once agree on one token and leave nothing else behind", async () => {
  const made = await Promise.all(Array.from({ length: 12 }, () => ensureToken(env)));
  expect(new Set(made.map(({ token }) => token)).size).toBe(1);
  expect(made.filter(({ created }) => created)).toHaveLength(1);
  expect(await readdir(join(home, "toolgate"))).toEqual(["token"]);
});

test("permissions that let others in are tightened, and it is said", async () => {
  await ensureToken(env);
  await chmod(file, 0o644);
  await chmod(join(home, "toolgate"), 0o755);
  const read = await ensureToken(env);
  expect(read.tightened).toEqual([join(home, "toolgate"), file]);
  expect(await modeOf(file)).toBe(0o600);
  expect(await modeOf(join(home, "toolgate"))).toBe(0o700);
});

test.each([
  ["", /is empty\. Remove it/],
  ["short", /holds no bearer token/],
  ["two words that are long enough", /holds no bearer token/],
])("a file that holds %j is an error that says what to do", async (content, message) => {
  await mkdir(join(home, "toolgate"));
  await writeFile(file, content);
  const failure = ensureToken(env);
  await expect(failure).rejects.toThrow(TokenError);
  await expect(failure).rejects.toThrow(message);
});

test("a folder in the place of the file is a clear error", async () => {
  await mkdir(file, { recursive: true });
  await expect(ensureToken(env)).rejects.toThrow(/cannot be kept in .*XDG_STATE_HOME/);
});

test("a state folder that cannot be made is a clear error", async () => {
  await writeFile(join(home, "toolgate"), "a file");
  await expect(ensureToken(env)).rejects.toThrow(TokenError);
});

test("an empty or relative HOME does not put the token into the current folder", () => {
  for (const HOME of ["", "home"]) expect(isAbsolute(stateFolder({ HOME }))).toBe(true);
});

test("state lives where XDG says, and a relative XDG_STATE_HOME is ignored", () => {
  expect(stateFolder({ XDG_STATE_HOME: "/state", HOME: "/home/ada" })).toBe("/state/toolgate");
  expect(stateFolder({ XDG_STATE_HOME: "state", HOME: "/home/ada" })).toBe("/home/ada/.local/state/toolgate");
  expect(stateFolder({ HOME: "/home/ada" })).toBe("/home/ada/.local/state/toolgate");
});

test("a token is what a header can carry and nobody can guess", () => {
  expect(isToken("abcdefghijklmnop")).toBe(true);
  expect(isToken("abc-._~+/def0123==")).toBe(true);
  for (const text of ["", "short", "with a space in it ok", "line\nbreakline\nbreak", "ünicödeünicödeü"])
    expect(isToken(text)).toBe(false);
});
