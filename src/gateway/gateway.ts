import type { Clock, Log } from "../core/effects.ts";
import type { Spawn } from "../core/spawn.ts";
import type { Middleware, Resolver } from "../core/operation.ts";
import type { ToolProvider } from "../core/provider.ts";
import { systemClock } from "../core/systemClock.ts";
import { McpServerShell } from "../mcp/server/shell.ts";
import { concurrency } from "../middleware/concurrency.ts";
import { freeze } from "../middleware/freeze.ts";
import { resultSize } from "../middleware/resultSize.ts";
import { timeout } from "../middleware/timeout.ts";
import { validate } from "../middleware/validate.ts";
import { BuiltinToolProvider } from "../providers/builtin.ts";
import { CompositeToolProvider } from "../providers/composite.ts";
import { Mount } from "../providers/mount.ts";
import { createCaller } from "../runtime/call.ts";
import { ToolRegistry } from "../runtime/registry.ts";
import { createAjvValidator } from "../schema/ajvValidator.ts";
import { createFileTools } from "../tools/file.ts";
import { dialHttp } from "../transports/http/dial.ts";
import { createSpawn } from "../transports/spawn.ts";
import { dialStdio } from "../transports/stdio.ts";
import { Upstream } from "../upstreams/upstream.ts";
import type { Dial } from "../wire/link.ts";
import { BrokenUpstream } from "./brokenUpstream.ts";
import { builtinNamespace } from "./types.ts";
import type {
  CreateGateway,
  Gateway,
  GatewayConfig,
  Limits,
  UpstreamConfig,
  UpstreamStatus,
} from "./types.ts";
import { upstreamEnv } from "./upstreamEnv.ts";
import { readVersion } from "./version.ts";

/** Wires all parts. Nothing is started and no door is open yet. */
export const createGateway: CreateGateway = async (config, options) => {
  const { log, providers = [], middleware = [] } = options;
  const spawner = await createSpawn();
  const listeners = new Set<(status: UpstreamStatus) => void>();
  const upstreams = config.upstreams.map((upstream) =>
    createUpstream(upstream, {
      config,
      log,
      clock: systemClock,
      spawn: spawner.spawn,
      onStatus: (status) => listeners.forEach((listener) => listener(status)),
    }),
  );
  const all: readonly ToolProvider[] = [...builtins(config), ...providers, ...upstreams];
  const composite = new CompositeToolProvider({ log });
  for (const provider of all) composite.add(provider);
  const chain = guards(config.limits, middleware);
  const open = (resolver: Resolver): McpServerShell =>
    new McpServerShell({
      caller: createCaller({ resolver, middleware: chain, log }),
      serverInfo: { name: "toolgate", version: readVersion() },
      dialect: config.listen.dialect,
      log,
      context: contextOf(config),
      ...(config.instructions !== undefined && { instructions: config.instructions }),
    });
  return {
    caller: createCaller({ resolver: composite, middleware: chain, log }),
    endpoint: endpoints(all, { composite, log, open }),
    start: () => upstreams.forEach((upstream) => upstream.start()),
    settled: async () => void (await Promise.all(upstreams.map((upstream) => upstream.settled()))),
    upstreams: () => upstreams.map((upstream) => upstream.status),
    onUpstream(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    containment: { level: spawner.level, explain: spawner.explain },
    async close() {
      await composite.close();
      await spawner.close();
    },
  };
};

/** The chain, outermost first: the user's own hooks, then validation; what was judged is what runs. */
function guards(limits: Limits, own: readonly Middleware[]): readonly Middleware[] {
  return [
    ...own,
    validate({ validator: createAjvValidator() }),
    freeze(),
    concurrency({ running: limits.callsRunning, waiting: limits.callsWaiting }),
    timeout({ clock: systemClock, defaultMs: limits.callTimeoutMs, maxMs: limits.callTimeoutMaxMs }),
    resultSize({
      maxBytes: limits.resultBytes,
      ...(limits.resultTextBytes !== undefined && { textBytes: limits.resultTextBytes }),
    }),
  ];
}

function builtins({ tools }: GatewayConfig): ToolProvider[] {
  if (!tools) return [];
  const registry = new ToolRegistry();
  for (const tool of tools.file ? createFileTools(tools.file) : []) registry.register(tool, "Toolgate");
  return [BuiltinToolProvider.over(registry, builtinNamespace)];
}

function contextOf({ tools }: GatewayConfig): { workspacePath?: string } {
  return tools ? { workspacePath: tools.workspace } : {};
}

interface Effects {
  readonly config: GatewayConfig;
  readonly log: Log;
  readonly clock: Clock;
  readonly spawn: Spawn;
  onStatus(status: UpstreamStatus): void;
}

function createUpstream(upstream: UpstreamConfig, effects: Effects): Upstream | BrokenUpstream {
  if (upstream.kind === "broken") return new BrokenUpstream(upstream);
  const { log, clock, onStatus } = effects;
  const { namespace, timeoutMs, startTimeoutMs, validateArguments } = upstream;
  return new Upstream({
    namespace,
    dial: dialOf(upstream, effects),
    clock,
    log: (level, message, fields) => log(level, message, { ...fields, upstream: namespace }),
    clientInfo: { name: "toolgate", version: readVersion() },
    onStatus,
    validateArguments,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(startTimeoutMs !== undefined && { connectMs: startTimeoutMs }),
  });
}

function dialOf(
  upstream: Exclude<UpstreamConfig, { kind: "broken" }>,
  { config, log, clock, spawn }: Effects,
): Dial {
  const { namespace } = upstream;
  const maxMessageBytes = config.limits.upstreamMessageBytes;
  if (upstream.kind === "http")
    return dialHttp({ url: upstream.url, headers: upstream.headers, maxMessageBytes, clock });
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

interface Served {
  readonly composite: CompositeToolProvider;
  readonly log: Log;
  open(resolver: Resolver): McpServerShell;
}

/** One endpoint for everything, and one a provider, made when it is first asked for. */
function endpoints(
  providers: readonly ToolProvider[],
  { composite, log, open }: Served,
): Gateway["endpoint"] {
  const everything = open(composite);
  const single = new Map<string, McpServerShell>();
  return (namespace) => {
    if (namespace === undefined) return everything;
    const provider = providers.find((candidate) => candidate.namespace === namespace);
    const known = single.get(namespace);
    if (!provider || known) return known;
    const shell = open(new Mount(provider, { log }));
    single.set(namespace, shell);
    return shell;
  };
}
