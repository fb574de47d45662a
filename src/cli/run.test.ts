import { expect, test, describe } from "vitest";
import { FakeIo } from "../../test/support/fakeIo.ts";
import { commandHelp, commandNames } from "./help.ts";

test("--version prints the version", async () => {
  const io = new FakeIo();
  expect(await io.run("--version")).toBe(0);
  expect(io.stdout.text).toBe("1.2.3\n");
});

describe("help", () => {
  test.each([["help"], ["--help"], ["-h"]])(
    "%s names every command, the exit codes and an example",
    async (word) => {
      const io = new FakeIo();
      expect(await io.run(word)).toBe(0);
      for (const name of commandNames) expect(io.stdout.text).toContain(`\n  ${name} `);
      expect(io.stdout.text).toContain("Exit codes: 0 done, 1 the tool answered with an error");
      expect(io.stdout.text).toContain("Example: ");
      expect(io.stderr.text).toBe("");
    },
  );

  test.each(commandNames)("of %s is the same by either way, with usage and example", async (name) => {
    const byWord = new FakeIo();
    const byFlag = new FakeIo();
    expect([await byWord.run("help", name), await byFlag.run(name, "--help")]).toEqual([0, 0]);
    expect(byWord.stdout.text).toBe(byFlag.stdout.text);
    expect(byWord.stdout.text).toContain(`Usage: ${commandHelp[name].usage}\n`);
    expect(byWord.stdout.text).toContain(`Example: ${commandHelp[name].example}\n`);
  });

  test.each(commandNames)("of %s explains every flag of its usage", (name) => {
    const { usage, details } = commandHelp[name];
    const flags = usage.match(/--[a-z-]+/g) ?? [];
    expect(flags).toEqual(
      expect.arrayContaining(details.flatMap(([text]) => text.match(/^--[a-z-]+/) ?? [])),
    );
    for (const flag of flags) expect(details.some(([text]) => text.startsWith(flag))).toBe(true);
  });
});

describe("wrong usage ends with 2, says what to do and shows no stack", () => {
  test.each([
    [[], "Usage: toolgate COMMAND"],
    [["serv"], 'There is no command "serv". Did you mean "serve"?'],
    [["help", "tolls"], 'There is no command "tolls". Did you mean "tools"?'],
    [["tools", "--jsn"], 'There is no flag --jsn. Did you mean "--json"?'],
    [["tools", "extra"], '"extra" is one argument too many.'],
    [["tools", "--config"], "--config"],
    [["tools", "--json=yes"], "--json"],
    [["doctor", "--json"], "There is no flag --json."],
    [["call"], "Name the tool to call."],
    [["call", "a", "{}", "b"], '"b" is one argument too many.'],
    [["call", "a", "{"], "The arguments are no JSON: "],
    [["call", "a", "[1]"], "The arguments must be a JSON object"],
    [["serve", "--http", "x"], "--http x: must be a port"],
    [["serve", "--http", "0.0.0.0:7070"], "a policy is needed for that, and this version has none"],
    [
      ["serve", "--http", "0.0.0.0:7070", "--no-auth"],
      "a policy is needed for that, and this version has none",
    ],
    [["serve", "--tcp", "7071"], "--tcp is not supported by this version."],
    [["serve", "--unix=/tmp/s"], "--unix is not supported by this version."],
    [["serve", "--ws"], "--ws is not supported by this version."],
    [["serve", "--stdio", "--no-auth"], "--no-auth is about HTTP"],
    [["serve", "--config", "missing.json"], "missing.json: There is no such file."],
  ])("%j", async (argv, message) => {
    const io = new FakeIo();
    expect(await io.run(...argv)).toBe(2);
    expect(io.stderr.text).toContain(message);
    expect(io.stderr.text).not.toMatch(/^\s+at /m);
    expect(io.stdout.text).toBe("");
    expect(io.events).toEqual([]);
  });
});

describe("an unexpected error", () => {
  const broken = new Error("the reaper would not start\nmore");

  test("is one line and how to see more", async () => {
    const io = new FakeIo({ broken });
    expect(await io.run("tools")).toBe(3);
    expect(io.stderr.text).toBe(
      "error the reaper would not start\nTOOLGATE_DEBUG=1 shows where this comes from.\n",
    );
    expect(io.interruptible).toBe(false);
  });

  test("shows its stack with TOOLGATE_DEBUG=1", async () => {
    const io = new FakeIo({ broken, env: { TOOLGATE_DEBUG: "1" } });
    await io.run("tools");
    expect(io.stderr.text).toMatch(/^\s+at /m);
  });

  test("is red on a terminal only", async () => {
    const io = new FakeIo({ broken, isTTY: true });
    await io.run("tools");
    expect(io.stderr.text).toContain("\u001B[31merror");
  });
});
