import { Cancellation } from "../../core/cancellation.ts";
import type { Clock, Log } from "../../core/effects.ts";
import { ToolError } from "../../core/errors.ts";
import type { ClientInfo } from "../../core/principal.ts";
import type { Dial } from "../../wire/link.ts";
import type { Era } from "../../wire/protocol.ts";
import { UpstreamConnection } from "./connection.ts";
import { named } from "./failure.ts";
import { Inbound } from "./inbound.ts";
import { negotiate } from "./negotiate.ts";
import { asError, Wire } from "./wire.ts";

export { SessionLost } from "../../transports/http/dial.ts";
export { UpstreamConnection } from "./connection.ts";
export type { ChangeListener } from "./inbound.ts";
export type { List } from "./listPages.ts";
export { listNames, lists, type ListName } from "./lists.ts";

/** The era of a server, kept from one connection to the next. The owner of the connections holds it. */
export interface EraCache {
  era?: Era;
}

export interface ConnectOptions {
  readonly namespace: string;
  readonly dial: Dial;
  readonly clock: Clock;
  readonly log: Log;
  /** How the gateway introduces itself. */
  readonly clientInfo: ClientInfo;
  /** From dialling to the end of the handshake, in milliseconds. Default 30,000. */
  readonly connectMs?: number;
  /** For the answer to `server/discover`, which legacy servers may not give, in milliseconds. Default 3,000. */
  readonly probeMs?: number;
  /** For all pages of a list together, in milliseconds. Default 30,000. */
  readonly listMs?: number;
  /** A server known as legacy is not probed again, until the handshake with it fails. */
  readonly eraCache?: EraCache;
  /** Ends the attempt, not the connection that came of it. */
  readonly cancellation?: Cancellation;
}

/** Connects and finds the era. Rejects with `ToolError` `Unavailable`; nothing of the attempt is left behind. */
export async function connectUpstream(options: ConnectOptions): Promise<UpstreamConnection> {
  const { namespace, clock, eraCache = {}, connectMs = 30_000 } = options;
  const attempt = options.cancellation?.child() ?? new Cancellation();
  const timer = clock.timer(
    () => attempt.cancel(new Error(`it did not finish its handshake within ${connectMs} ms`)),
    connectMs,
  );
  try {
    const connection = await establish(options, attempt, eraCache.era !== "legacy");
    eraCache.era = connection.terms.era;
    return connection;
  } catch (error) {
    delete eraCache.era;
    const reason = attempt.cancelled ? attempt.reason : error;
    throw new ToolError(
      "Unavailable",
      `${named(namespace)} could not be connected: ${asError(reason).message}`,
      {
        cause: error,
      },
    );
  } finally {
    timer.stop();
    attempt.release();
  }
}

async function establish(
  options: ConnectOptions,
  attempt: Cancellation,
  probe: boolean,
): Promise<UpstreamConnection> {
  const { namespace, dial, clock, log, clientInfo, probeMs = 3_000 } = options;
  const inbound = new Inbound(namespace, log);
  const wire = await Wire.open({ dial, clock, inbound, cancellation: attempt });
  // Ends whatever waits, also what is only being sent: a request that is cancelled one by one would be told to the server.
  const stop = attempt.onCancel((reason) => void wire.close(asError(reason)));
  try {
    const terms = await negotiate({ wire, clientInfo, probe, probeMs });
    if (attempt.cancelled) throw asError(attempt.reason);
    return new UpstreamConnection({ ...options, wire, terms, inbound });
  } catch (error) {
    await wire.close(asError(error));
    // Some servers die of a request that they do not know: these are legacy.
    if (probe && wire.isGone && !attempt.cancelled) return establish(options, attempt, false);
    throw error;
  } finally {
    stop();
  }
}
