import type { Cancellation } from "../core/cancellation.ts";
import { ToolError } from "../core/errors.ts";
import { SessionLost, type UpstreamConnection } from "../mcp/client/connect.ts";
import type { Supervisor } from "./supervisor.ts";

/**
 * Runs it on the connection that is there or comes; once more, on another, where the session was lost before it ran.
 * Rejects with `ToolError` `Unavailable` if there is none, `Cancelled` if `cancellation` is cancelled while it waits.
 */
export async function onConnection<T>(
  supervisor: Supervisor,
  cancellation: Cancellation,
  run: (connection: UpstreamConnection) => Promise<T>,
): Promise<T> {
  const connection = supervisor.ready ?? (await connected(supervisor, cancellation));
  try {
    return await run(connection);
  } catch (error) {
    // The one failure of which it is certain that nothing has run: a second try is no second run.
    if (!(error instanceof SessionLost)) throw error;
  }
  supervisor.renew(connection);
  const fresh = await connected(supervisor, cancellation);
  try {
    return await run(fresh);
  } catch (error) {
    if (!(error instanceof SessionLost)) throw error;
    const who = `Upstream "${fresh.namespace}"`;
    throw new ToolError("Unavailable", `${who} keeps losing its session: ${error.message}`);
  }
}

/** Waits for a connection, but not for a caller that has gone. */
function connected(supervisor: Supervisor, cancellation: Cancellation): Promise<UpstreamConnection> {
  return new Promise((resolve, reject) => {
    const stop = cancellation.onCancel(() =>
      reject(new ToolError("Cancelled", "Cancelled while its upstream was starting.")),
    );
    supervisor.connected().then(resolve, reject).finally(stop);
  });
}
