import type { Clock, Log } from "../core/effects.ts";
import type { Spawn } from "../core/spawn.ts";
import { dialHttp } from "../transports/http/dial.ts";
import { dialStdio } from "../transports/stdio.ts";
import { IsolatedUpstream } from "../upstreams/isolatedUpstream.ts";
import { Upstream } from "../upstreams/upstream.ts";
import type { Dial } from "../wire/link.ts";
import { BrokenUpstream } from "./brokenUpstream.ts";
import { dialSocket } from "./dialSocket.ts";
import { credentialsFor } from "./oauth.ts";
import type { GatewayConfig, HttpUpstreamConfig, UpstreamConfig, UpstreamStatus } from "./types.ts";
import { upstreamEnv } from "./upstreamEnv.ts";
import { readVersion } from "./version.ts";

export interface UpstreamEffects {
  readonly config: GatewayConfig;
  readonly log: Log;
  readonly clock: Clock;
  readonly spawn: Spawn;
  onStatus(status: UpstreamStatus): void;
}

/** An upstream as its entry in the configuration wants it. Nothing is started. */
export function createUpstream(
  upstream: UpstreamConfig,
  effects: UpstreamEffects,
): Upstream | IsolatedUpstream | BrokenUpstream {
  if (upstream.kind === "broken") return new BrokenUpstream(upstream);
  const { log, clock, onStatus } = effects;
  const { namespace, timeoutMs, startTimeoutMs, validateArguments, isolation } = upstream;
  const options = {
    namespace,
    dial: dialOf(upstream, effects),
    clock,
    log: ((level, message, fields) => log(level, message, { ...fields, upstream: namespace })) as Log,
    clientInfo: { name: "toolgate", version: readVersion() },
    onStatus,
    validateArguments,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(startTimeoutMs !== undefined && { connectMs: startTimeoutMs }),
  };
  return isolation === "principal" ? new IsolatedUpstream(options) : new Upstream(options);
}

function dialOf(upstream: Exclude<UpstreamConfig, { kind: "broken" }>, effects: UpstreamEffects): Dial {
  const { config, log, clock, spawn } = effects;
  const { namespace } = upstream;
  const maxMessageBytes = config.limits.upstreamMessageBytes;
  if (upstream.kind === "http") return dialHttp(httpOptions(upstream, effects));
  if (upstream.kind === "socket") return dialSocket(upstream.target, { maxMessageBytes, clock });
  const { command, args, env, cwd } = upstream;
  return dialStdio({
    spawn,
    command,
    args,
    cwd,
    env: upstreamEnv(env, process.env),
    maxMessageBytes,
    onStderr: (line) => log("debug", line, { upstream: namespace }),
  });
}

function httpOptions(
  upstream: HttpUpstreamConfig,
  { config, log, clock }: UpstreamEffects,
): Parameters<typeof dialHttp>[0] {
  const { url, headers, sse } = upstream;
  const credentials = credentialsFor(upstream, { env: process.env, log, clock });
  return {
    url,
    headers,
    maxMessageBytes: config.limits.upstreamMessageBytes,
    clock,
    ...(sse !== undefined && { sse }),
    ...(credentials && { credentials }),
  };
}
