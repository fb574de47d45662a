import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { Cancellation } from "../core/cancellation.ts";
import { ToolContext } from "../core/context.ts";
import { loadConfig, type ParsedConfig } from "../gateway/config.ts";
import type { Gateway, GatewayConfig, UpstreamStatus } from "../gateway/types.ts";
import { RefusedError } from "./flags.ts";
import { exitCodes, type Io } from "./io.ts";
import { createLog } from "./log.ts";
import { styleOf, writeLine } from "./output.ts";
import { describeUpstream } from "./upstreamLine.ts";

/** Loads the configuration. Throws `ConfigError`, or `RefusedError` where the defaults would serve too much. */
export async function readConfig(io: Io, path: string | undefined): Promise<ParsedConfig> {
  const parsed = await loadConfig({ cwd: io.cwd, env: io.env, ...(path !== undefined && { path }) });
  if (parsed.file === undefined) await refuseWideWorkspace(io);
  return parsed;
}

/** Without a configuration the current folder is the workspace: all files of a machine or a user are no project. */
async function refuseWideWorkspace({ cwd, env }: Io): Promise<void> {
  const home = env["HOME"] || homedir();
  const isHome = cwd === home || cwd === (await realpath(home).catch(() => home));
  if (!isHome && dirname(cwd) !== cwd) return;
  throw new RefusedError(
    `There is no toolgate.json in ${cwd}, and the file tools are not served in ` +
      `${isHome ? "a whole home folder" : "the root of the file system"} by default. ` +
      "cd into a project folder, or name a configuration with --config.",
  );
}

export interface Work {
  readonly gateway: Gateway;
  readonly parsed: ParsedConfig;
  /** What calls start from; cancelled by the first signal. */
  readonly context: ToolContext;
}

/** Of which configuration the gateway is. */
export interface Chosen {
  readonly configPath: string | undefined;
  /** Starts only the upstream of that namespace, if there is one. */
  readonly only?: string | undefined;
}

/** Runs `work` on a gateway of its own, with its upstreams starting, and closes it again. */
export async function withGateway(
  io: Io,
  { configPath, only }: Chosen,
  work: (work: Work) => Promise<number>,
): Promise<number> {
  const log = createLog(io, "warning");
  const parsed = await readConfig(io, configPath);
  const config = narrowed(parsed.config, only);
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
      return await Promise.race([work({ gateway, parsed, context }), interrupted]);
    } finally {
      await gateway.close();
    }
  } finally {
    stopListening();
  }
}

function narrowed(config: GatewayConfig, only: string | undefined): GatewayConfig {
  const upstreams = config.upstreams.filter(({ namespace }) => namespace === only);
  return upstreams.length === 0 ? config : { ...config, upstreams };
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
