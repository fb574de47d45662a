import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ideDoor, ideFolder } from "./ideLock.ts";

let home: string;
let folder: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "toolgate-ide-"));
  folder = join(home, "ide");
});

afterEach(() => rm(home, { recursive: true }));

const open = () => ideDoor({ folder, workspaceFolders: ["/work"] });

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

test("says where the door is and how to get in, to this user alone, until it is withdrawn", async () => {
  const door = open();
  const file = await door.announce(7072);
  expect(file).toBe(join(folder, "7072.lock"));
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
    pid: process.pid,
    workspaceFolders: ["/work"],
    ideName: "Toolgate",
    transport: "ws",
    authToken: expect.stringMatching(/^[\w-]{43}$/),
  });
  expect(await modeOf(file)).toBe(0o600);
  expect(await modeOf(folder)).toBe(0o700);
  expect(await readdir(folder)).toEqual(["7072.lock"]);
  await door.withdraw();
  await door.withdraw();
  expect(await readdir(folder)).toEqual([]);
});

test("lets in who sends the token of the file in its own header", async () => {
  const door = open();
  const { authToken } = JSON.parse(await readFile(await door.announce(7072), "utf8")) as {
    authToken: string;
  };
  const enter = (headers: Record<string, string>) => door.authenticate(headers)?.id;
  expect(enter({ "x-claude-code-ide-authorization": authToken })).toBe("local");
  expect(enter({ "x-claude-code-ide-authorization": `${authToken}x` })).toBeUndefined();
  expect(enter({ authorization: `Bearer ${authToken}` })).toBeUndefined();
  expect(enter({})).toBeUndefined();
});

test("replaces what another program left under its port, and closes a folder that was open", async () => {
  await mkdir(folder);
  await chmod(folder, 0o755);
  await writeFile(join(folder, "7072.lock"), "old", { mode: 0o644 });
  const file = await open().announce(7072);
  expect(await readFile(file, "utf8")).toContain("authToken");
  expect(await modeOf(file)).toBe(0o600);
  expect(await modeOf(folder)).toBe(0o700);
});

test("removes the files of gateways that have died, and no other's", async () => {
  const dead = spawn(process.execPath, ["--version"]);
  await once(dead, "exit");
  await mkdir(folder);
  const put = (name: string, content: unknown): Promise<void> =>
    writeFile(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
  await put("1.lock", { pid: dead.pid, ideName: "Toolgate" });
  await put("2.lock", { ideName: "Toolgate" });
  await put("3.lock", { pid: process.pid, ideName: "Toolgate" });
  await put("4.lock", { pid: dead.pid, ideName: "Neovim" });
  await put("5.lock", "no JSON");
  await put("6.txt", { pid: dead.pid, ideName: "Toolgate" });
  // Process 1 is there and belongs to somebody else, unless the tests run as root.
  await put("7.lock", { pid: 1, ideName: "Toolgate" });
  await open().announce(7072);
  expect(await readdir(folder)).toEqual(["3.lock", "4.lock", "5.lock", "6.txt", "7.lock", "7072.lock"]);
});

test("that cannot be written is told with its path", async () => {
  await writeFile(folder, "a file in the place of the folder");
  await expect(open().announce(7072)).rejects.toThrow(
    `The lock file ${join(folder, "7072.lock")} cannot be written: `,
  );
});

test("lies where Claude Code looks", () => {
  expect(ideFolder({ HOME: "/home/ada" })).toBe("/home/ada/.claude/ide");
  expect(ideFolder({ HOME: "/home/ada", CLAUDE_CONFIG_DIR: "/config" })).toBe("/config/ide");
  expect(ideFolder({ HOME: "/home/ada", CLAUDE_CONFIG_DIR: "config" })).toBe("/home/ada/.claude/ide");
  expect(isAbsolute(ideFolder({ HOME: "" }))).toBe(true);
});
