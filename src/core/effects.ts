import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonObject } from "./json.ts";

/** Time, injected so that tests decide what time it is. */
export interface Clock {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Runs `fn` once after `ms`; the timer never keeps a process alive. */
  timer(fn: () => void, ms: number): Timer;
}

export interface Timer {
  /** Starts the same span again, from now. */
  restart(): void;
  stop(): void;
}

/** The levels of MCP's logging (RFC 5424 section 6.2.1), least severe first. */
export const logLevels = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;

export type LogLevel = (typeof logLevels)[number];

/** Toolgate's own log, for the person who runs it. It must not throw. */
export type Log = (level: LogLevel, message: string, fields?: JsonObject) => void;

/** What is wrong with a value: `path` is a JSON pointer (RFC 6901, "" is the whole), `message` says what was expected. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

export type Validation =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly issues: readonly Issue[];
      /** What the schema's own code threw, for the log: then the value itself may be in order. */
      readonly cause?: unknown;
    };

/** Checks one value. Must not throw. */
export type Check = (value: unknown) => Validation | Promise<Validation>;

/** Compiles schemas to checks. `compile` throws an `Error` whose message names what in the schema is unusable. */
export interface Validator {
  /**
   * `trusted` is false for a schema that an upstream wrote: its regular expressions are not run, since one
   * with catastrophic backtracking would stop every call.
   */
  compile(schema: JsonObject, options: { trusted: boolean }): Check;
  /** A check by a Standard Schema library's own `validate`. */
  standard(schema: StandardSchemaV1): Check;
}

/** What a tool wants to do, shown to whoever decides. */
export interface ApprovalRequest {
  readonly canonicalName: string;
  readonly arguments: JsonObject;
  readonly reason?: string;
}

export type ApprovalDecision =
  | { readonly type: "approved" }
  | { readonly type: "denied"; readonly reason?: string }
  | { readonly type: "timed-out" };

/** Asks somebody who may say no. Must not reject. */
export interface ApprovalHandler {
  request(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision>;
}

/** What confinement a caller wants for what its tools run. */
export interface SandboxConfig {
  readonly workspace: "none" | "read" | "read-write";
  /** Hosts that may be reached; an empty list is no network. */
  readonly network: readonly string[];
}
