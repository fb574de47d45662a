import type { ConnectOptions } from "../mcp/client/connect.ts";
import type { UpstreamState } from "./supervisor.ts";

export interface UpstreamOptions extends Omit<ConnectOptions, "cancellation" | "eraCache"> {
  /** Arguments are checked here, against the upstream's schemas, before they are sent. Default false. */
  readonly validateArguments?: boolean;
  /** For one call, in milliseconds; replaces the gateway's time-out. */
  readonly timeoutMs?: number;
  /** How long after `start` a first list is waited for, in milliseconds. Default 5,000. */
  readonly graceMs?: number;
  /** From 0 to 1, as `Math.random`, which is the default. */
  readonly random?: () => number;
  onStatus?(status: UpstreamStatus): void;
}

export interface UpstreamStatus {
  readonly namespace: string;
  readonly state: UpstreamState;
  /** When the state began, in the clock's milliseconds. */
  readonly since: number;
  /** Tries to connect, after the first. */
  readonly restarts: number;
  /** Of the connection, while there is one. */
  readonly era?: "legacy" | "modern";
  readonly protocolVersion?: string;
  /** How many tools the last good list has. */
  readonly tools?: number;
  /** Why it is not ready, for a person. */
  readonly error?: string;
}
