import { fileURLToPath } from "node:url";
import { test as base } from "./e2e.ts";
import { isRunning, processTree, waitUntil } from "./processes.ts";
import { startStdio, type StdioProgram } from "./stdioToolgate.ts";
import { toolgateCommand, type Command, type ToolgateOptions } from "./toolgate.ts";
import { Witness } from "./witness.ts";

interface Fixtures {
  /** Hears the fixture programs of this test. */
  readonly witness: Witness;
  /** Starts a program that is talked to line by line; it is stopped at the end of the test. */
  readonly startLines: (command: Command) => StdioProgram;
  /** `toolgate serve --stdio`, line by line. */
  readonly startStdioToolgate: (options?: ToolgateOptions) => Promise<StdioProgram>;
}

/** As `test` of `e2e.ts`, for tests whose upstreams are the programs in `test/fixtures`. */
export const test = base.extend<Fixtures>({
  // vitest reads the names of the fixtures that one needs from the pattern.
  // oxlint-disable-next-line eslint/no-empty-pattern
  witness: async ({}, use) => {
    const witness = await Witness.listen();
    await use(witness);
    await witness.close();
  },
  // oxlint-disable-next-line eslint/no-empty-pattern
  startLines: async ({}, use) => {
    const started: StdioProgram[] = [];
    await use((command) => {
      const program = startStdio(command);
      started.push(program);
      return program;
    });
    await Promise.all(started.map((program) => program.stop()));
  },
  startStdioToolgate: async ({ folder, startLines }, use) => {
    await use(async (options) => startLines(await toolgateCommand(folder, ["serve", "--stdio"], options)));
  },
});

export function fixturePath(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}

/** An entry of `mcpServers` that runs a program of `test/fixtures`. */
export function fixture(witness: Witness, name: string, ...args: string[]) {
  return { command: process.execPath, args: [fixturePath(name), ...args], env: witness.env };
}

/** Runs `end`, and resolves when the process `pid`, all that it had started and all that the witness knows are gone. */
export async function endsWhole(pid: number, witness: Witness, end: () => unknown): Promise<void> {
  const tree = processTree(pid);
  await end();
  await witness.allGone();
  await waitUntil(() => !tree.some(isRunning), `the processes ${tree.join(", ")} are gone`);
}
