import { mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, describe } from "vitest";
import { FakeIo } from "../../test/support/fakeIo.ts";
import { commandHelp, commandNames } from "./help.ts";

test.each(["--version", "-v", "-V", "version"])("%s prints the version", async (word) => {
  const io = new FakeIo();
  expect(await io.run(word)).toBe(0);
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
    [["call", "a", "{"], `. Write it as '{"path": "a.txt"}'.`],
    [["call", "a", "[1]"], "The arguments must be a JSON object"],
    [["serve", "--http", "x"], "--http x: must be a port"],
    [["serve", "--http", "0.0.0.0:7070"], "a policy is needed for that, and this version has none"],
    [
      ["serve", "--http", "0.0.0.0:7070", "--no-auth"],
      "a policy is needed for that, and this version has none",
    ],
    [["serve", "--ws"], "--ws"],
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

describe("without a configuration", () => {
  test.each(["serve", "tools", "doctor"])(
    "%s does not take all files of a machine or a user",
    async (name) => {
      const home = await realpath(tmpdir());
      for (const [cwd, what] of [
        ["/", "the root of the file system"],
        [home, "a whole home folder"],
      ] as const) {
        const io = new FakeIo({ cwd, env: { HOME: home, XDG_STATE_HOME: "/tmp" } });
        expect(await io.run(name)).toBe(2);
        expect(io.stderr.text).toBe(
          `error There is no toolgate.json in ${cwd}, and the file tools are not served in ${what} by default. ` +
            "cd into a project folder, or name a configuration with --config.\n",
        );
        expect(io.events).toEqual([]);
      }
    },
  );

  test("a home that is reached by a link is one", async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "toolgate-run-")));
    try {
      const link = join(folder, "link");
      await symlink(folder, link);
      expect(await new FakeIo({ cwd: folder, env: { HOME: link } }).run("tools")).toBe(2);
      expect(await new FakeIo({ cwd: folder, env: { HOME: join(folder, "other") } }).run("tools")).toBe(0);
    } finally {
      await rm(folder, { recursive: true });
    }
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
