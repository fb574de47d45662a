import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect } from "vitest";
import { readDocs } from "../support/docs.ts";
import { compilePrograms, type Programs } from "../support/docsPrograms.ts";
import { test } from "../support/e2e.ts";
import { toolgateCommand, type Command } from "../support/toolgate.ts";

// Programs in the pages compile and print what stands below them; commands say what the pages show.

const blocks = (await readDocs()).flatMap((doc) => doc.blocks);

describe("programs", () => {
  const cases = blocks.flatMap((block, at) => {
    const next = blocks[at + 1];
    const printed = next?.kind === "printed" ? next.text : "";
    return block.kind === "program" ? [{ place: block.place, block, printed }] : [];
  });
  let programs: Programs;

  beforeAll(async () => {
    // Those that are files as well run in examples.test.ts.
    programs = await compilePrograms(blocks.filter(({ kind }) => kind === "program" || kind === "file"));
    return () => programs.remove();
  }, 60_000);

  test.for(cases)("$place prints what stands below it", async ({ block, printed }, { folder }) => {
    const output = await programs.run(block, folder);
    expect(output.trimEnd().replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT")).toBe(printed);
  });
});

describe("what commands print", () => {
  test.for(blocks.filter(({ kind }) => kind === "output"))(
    "$place: toolgate $argument",
    async ({ argument, text }, { folder }) => {
      const cwd = join(folder, "project");
      await mkdir(cwd);
      await writeFile(join(cwd, "broken.json"), brokenConfiguration);
      const args = argument === "serve" ? ["serve", "--http", "0"] : argument.split(" ");
      const env = { XDG_STATE_HOME: join(folder, ".local/state") };
      const real = await outputOf(await toolgateCommand(folder, args, { env, cwd }));
      const [shown, printed] = comparable(text, real.replaceAll(folder, "/home/ada"));
      // One that ends in "..." shows the beginning.
      const start = shown.replace(/\n\.\.\.$/, "");
      expect(start === shown ? printed : printed.slice(0, start.length)).toBe(start);
    },
  );
});

const brokenConfiguration = `{
  "mcpServers": {
    "fs":        { "comand": "npx" }
  },
  "limits": { "callTimeout": 5 }
}`;

/** Standard output, then standard error. A server is told to end when it has said how to connect. */
function outputOf({ command, args, env, cwd }: Command): Promise<string> {
  return new Promise((resolve) => {
    const options = { env, cwd, timeout: 20_000 };
    const child = execFile(command, args, options, (_error, stdout, stderr) => resolve(stdout + stderr));
    child.stdout?.on("data", (text: string) => text.includes("Connect a client:") && child.kill());
  });
}

/** Both without what differs from one machine to the next: ports, tokens, versions of Node, and how well processes are kept. */
function comparable(shown: string, printed: string): [string, string] {
  const level = /^Processes +(\S+):.*$/m;
  const isSameLevel = level.exec(shown)?.[1] === level.exec(printed)?.[1];
  const plain = (text: string): string =>
    (isSameLevel ? text : text.replace(level, "Processes"))
      .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT")
      .replace(/Bearer [\w-]{43}/g, "Bearer TOKEN")
      .replace(/v\d+\.\d+\.\d+/g, "vN")
      .trimEnd();
  return [plain(shown), plain(printed)];
}
