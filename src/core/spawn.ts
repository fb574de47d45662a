import type { Readable, Writable } from "node:stream";

// Apart from the other effects: what needs no process needs no Node types either.

export interface SpawnOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the child: nothing is added to it silently. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface ExitStatus {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A running child process with its descendants. */
export interface Child {
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the process has gone; rejects with an `Error` that names the command if it could not start. */
  readonly exited: Promise<ExitStatus>;
  /**
   * Closes standard input, then SIGTERM, then SIGKILL, each after `graceMs`; resolves when the process
   * and every descendant are gone. Safe to call twice.
   */
  stop(graceMs?: number): Promise<void>;
}

/** Starts a process. Whatever happens to this process, SIGKILL included, the child's whole tree ends with it. */
export type Spawn = (options: SpawnOptions) => Child;
