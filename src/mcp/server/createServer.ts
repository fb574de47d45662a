import { Cancellation } from "../../core/cancellation.ts";
import { ToolContext, type ToolContextInit } from "../../core/context.ts";
import type { Clock, Log } from "../../core/effects.ts";
import type { Caller } from "../../core/operation.ts";
import type { ClientInfo } from "../../core/principal.ts";
import { systemClock } from "../../core/systemClock.ts";
import { Allowance } from "./allowance.ts";
import { Changes } from "./changes.ts";
import { dialects, type DialectName } from "./dialect.ts";
import type { Server } from "./method.ts";
import { Parking } from "./parking.ts";
import { Seal } from "./seal.ts";

/** Calls of one principal that may wait for answers at once. */
const parkedPerPrincipal = 100;
/** Streams of notifications that one principal may have open at once. */
const streamsPerPrincipal = 1_000;
/** Resources whose changes one principal may be told, in all of its streams and sessions. */
const subscriptionsPerPrincipal = 10_000;
/** Their URIs and the requests of open streams together, in UTF-16 units: each alone may be as long as a message. */
const subscribedPerPrincipal = 16 * 1024 * 1024;

export interface ShellOptions {
  readonly caller: Caller;
  readonly serverInfo: ClientInfo;
  readonly instructions?: string;
  /** Default `mcp`. */
  readonly dialect?: DialectName;
  readonly log?: Log;
  readonly clock?: Clock;
  /** Entries in one page of a list. Default: all. */
  readonly pageSize?: number;
  /** How long a client may take to answer what a call asks it, in milliseconds. Default 10 minutes. */
  readonly answerMs?: number;
  /** What every call's context starts from (the workspace, approvals, ...). */
  readonly context?: ToolContextInit;
}

/** What the methods of one shell share, with its defaults and its bounds. */
export function createServer(options: ShellOptions): Server {
  const { caller, serverInfo, instructions, pageSize, clock = systemClock, answerMs = 600_000 } = options;
  return {
    caller,
    serverInfo,
    instructions,
    dialect: dialects[options.dialect ?? "mcp"],
    log: options.log ?? (() => {}),
    clock,
    pageSize,
    answerMs,
    context: new ToolContext(options.context),
    seal: new Seal(),
    parking: new Parking(clock, { answerMs, perPrincipal: parkedPerPrincipal }),
    changes: new Changes(caller),
    streams: new Allowance(streamsPerPrincipal),
    subscriptions: new Allowance(subscriptionsPerPrincipal),
    subscribed: new Allowance(subscribedPerPrincipal),
    ending: new Cancellation(),
  };
}
