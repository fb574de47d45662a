import { Cancellation } from "../core/cancellation.ts";
import { ToolContext } from "../core/context.ts";
import type { Log } from "../core/effects.ts";
import { loadConfig, type ParsedConfig } from "../gateway/config.ts";
import type { Gateway, UpstreamStatus } from "../gateway/types.ts";
import { exitCodes, type Io } from "./io.ts";
import { createLog } from "./log.ts";
import { styleOf, writeLine } from "./output.ts";
import { describeUpstream } from "./upstreamLine.ts";

/** Loads the configuration and tells what its author should know. Throws `ConfigError`. */
export async function readConfig(io: Io, path: string | undefined, log: Log): Promise<ParsedConfig> {
  const parsed = await loadConfig({ cwd: io.cwd, env: io.env, ...(path !== undefined && { path }) });
  for (const { level, message } of parsed.notes) log(level, message);
  return parsed;
}

export interface Work {
  readonly gateway: Gateway;
  /** What calls start from; cancelled by the first signal. */
  readonly context: ToolContext;
}

/** Runs `work` on a gateway of its own, with every upstream starting, and closes it again. */
export async function withGateway(
  io: Io,
  configPath: string | undefined,
  work: (work: Work) => Promise<number>,
): Promise<number> {
  const log = createLog(io, "warning");
  const { config } = await readConfig(io, configPath, log);
  const cancellation = new Cancellation();
  const workspacePath = config.tools?.workspace;
  const context = new ToolContext({ cancellation, ...(workspacePath !== undefined && { workspacePath }) });
  const stopListening = io.onInterrupt(() => {
    if (cancellation.cancelled) io.exit(exitCodes.interrupted);
    cancellation.cancel("interrupted");
  });
  const interrupted = new Promise<number>((resolve) => {
    cancellation.onCancel(() => resolve(exitCodes.interrupted));
  });
  try {
    const gateway = await io.createGateway(config, { log });
    try {
      gateway.start();
      return await Promise.race([work({ gateway, context }), interrupted]);
    } finally {
      await gateway.close();
    }
  } finally {
    stopListening();
  }
}

/** Resolves when the upstream is ready or has failed; at once where there is none of that namespace. */
export function upstreamSettled(gateway: Gateway, namespace: string): Promise<void> {
  const waits = (status: UpstreamStatus): boolean =>
    status.namespace === namespace && status.state === "starting";
  if (!gateway.upstreams().some(waits)) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = gateway.onUpstream((status) => {
      if (status.namespace !== namespace || waits(status)) return;
      stop();
      resolve();
    });
  });
}

/** The upstreams that failed, each named on standard error with why. */
export function reportFailed(io: Io, upstreams: readonly UpstreamStatus[]): readonly UpstreamStatus[] {
  const failed = upstreams.filter(({ state }) => state === "failed");
  const style = styleOf(io.stderr, io.env);
  for (const status of failed) writeLine(io.stderr, describeUpstream(status, style));
  return failed;
}
