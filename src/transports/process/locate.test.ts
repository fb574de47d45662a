import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { locate } from "./locate.ts";

let home = "";

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "toolgate-locate-"));
  for (const directory of ["first", "second", "second/folder"]) mkdirSync(join(home, directory));
  writeFileSync(join(home, "first/tool"), "no permission to run it");
  for (const name of ["second/tool", "second/other"]) {
    writeFileSync(join(home, name), "");
    chmodSync(join(home, name), 0o755);
  }
});
afterAll(() => rmSync(home, { recursive: true }));

const find = (command: string, { PATH = `${home}/first:${home}/second`, cwd = home } = {}): string =>
  locate({ command, env: { PATH }, cwd });

test("looks along the child's own PATH and takes what can run", () => {
  expect(find("other")).toBe(join(home, "second/other"));
  expect(find("tool")).toBe(join(home, "second/tool"));
});

test("a command with a slash, and a relative PATH, start at the child's directory", () => {
  expect(find("second/other")).toBe(join(home, "second/other"));
  expect(find("./other", { cwd: join(home, "second") })).toBe(join(home, "second/other"));
  expect(find("other", { PATH: "second" })).toBe(join(home, "second/other"));
});

test("without a PATH, the system's own", () => {
  expect(locate({ command: "sh", env: {} })).toMatch(/^\/(usr\/)?bin\/sh$/);
});

test.each([
  ["missing", {}, /^command not found\. Check "command" and the PATH that it gets\.$/],
  ["", {}, /^command not found/],
  ["./missing", {}, /^command not found\. Check "command"\.$/],
  ["tool", { PATH: "first" }, /^".*first\/tool" is not executable\. Run chmod \+x/],
  ["./second", {}, /second" is a directory/],
  ["folder", {}, /folder" is a directory/],
  ["sh", { cwd: "/no/such/place" }, /^there is no directory "\/no\/such\/place"\. Check "cwd"\.$/],
])("%j with %j: says why", (command, where, why) => {
  expect(() => find(command, where)).toThrow(why);
});
