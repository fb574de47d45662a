import type { Readable, Writable } from "node:stream";
import type { OpenDoors } from "../gateway/doors.ts";
import type { SignIn } from "../gateway/oauth.ts";
import type { CreateGateway } from "../gateway/types.ts";

/** A stream for a person, or for a program where it is no terminal. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Everything that a command touches outside of itself. */
export interface Io {
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  /** Toolgate's own. */
  readonly version: string;
  /** As `process.version`. */
  readonly nodeVersion: string;
  readonly createGateway: CreateGateway;
  readonly openDoors: OpenDoors;
  readonly signIn: SignIn;
  now(): Date;
  /** Calls back at every SIGINT and SIGTERM, and at the first SIGHUP. Returns how to stop. */
  onInterrupt(listener: () => void): () => void;
  /** Ends the process at once. */
  exit(code: number): void;
}

/** Part of the command line's contract. */
export const exitCodes = {
  done: 0,
  /** The tool answered with an error. */
  toolError: 1,
  /** Wrong usage or configuration. */
  usage: 2,
  /** Something could not be started or reached. */
  unreachable: 3,
  /** Stopped by a signal before it was done, as shells report SIGINT. */
  interrupted: 130,
} as const;
