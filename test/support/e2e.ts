import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base } from "vitest";
import { startToolgate, toolgateCommand, type RunningToolgate, type ToolgateOptions } from "./toolgate.ts";

interface Closable {
  close(): Promise<void>;
}

interface Fixtures {
  /** An empty folder of this test's own, removed at its end. */
  readonly folder: string;
  /** Starts Toolgate with these arguments, such as `["serve", "--http", "0"]`; it is stopped at the end of the test. */
  readonly start: (args: readonly string[], options?: ToolgateOptions) => Promise<RunningToolgate>;
  /** Closes a client (`close(await connectV2Http(...))`) at the end of the test. */
  readonly closing: <T extends Closable>(client: T) => T;
}

/** vitest's `test` for tests with real processes: whatever they start ends with them, however they end. */
export const test = base.extend<Fixtures>({
  // vitest reads the names of the fixtures that one needs from the pattern.
  // oxlint-disable-next-line eslint/no-empty-pattern
  folder: async ({}, use) => {
    const folder = await mkdtemp(join(tmpdir(), "toolgate-test-"));
    await use(folder);
    await rm(folder, { recursive: true, force: true });
  },
  start: async ({ folder }, use) => {
    const started: RunningToolgate[] = [];
    await use(async (args, options) => {
      const toolgate = await startToolgate(await toolgateCommand(folder, args, options));
      started.push(toolgate);
      return toolgate;
    });
    await Promise.all(started.map((toolgate) => toolgate.stop()));
  },
  // The clients go before the servers: this fixture is torn down before `start`, which it names for that reason.
  closing: async ({ start: _start }, use) => {
    const clients: Closable[] = [];
    await use((client) => {
      clients.push(client);
      return client;
    });
    await Promise.allSettled(clients.map((client) => client.close()));
  },
});
