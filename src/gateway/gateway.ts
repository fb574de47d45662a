import type { Log } from "../core/effects.ts";
import type { Middleware, Resolver } from "../core/operation.ts";
import type { ToolProvider } from "../core/provider.ts";
import { systemClock } from "../core/systemClock.ts";
import { McpServerShell } from "../mcp/server/shell.ts";
import { concurrency } from "../middleware/concurrency.ts";
import { freeze } from "../middleware/freeze.ts";
import { taskOwners } from "../middleware/taskOwners.ts";
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
import { createSpawn } from "../transports/spawn.ts";
import { createUpstream } from "./createUpstream.ts";
import { builtinNamespace } from "./types.ts";
import type { CreateGateway, Gateway, GatewayConfig, Limits, UpstreamStatus } from "./types.ts";
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
      clock: systemClock,
      context: contextOf(config),
      ...(config.instructions !== undefined && { instructions: config.instructions }),
    });
  const served = endpoints(all, { composite, log, open });
  return {
    caller: createCaller({ resolver: composite, middleware: chain, log }),
    endpoint: served.find,
    start: () => upstreams.forEach((upstream) => upstream.start()),
    settled: async () => void (await Promise.all(upstreams.map((upstream) => upstream.settled()))),
    upstreams: () => upstreams.map((upstream) => upstream.status),
    onUpstream(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    containment: { level: spawner.level, explain: spawner.explain },
    stop: served.stop,
    async close() {
      await served.stop();
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
    taskOwners(),
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

interface Served {
  readonly composite: CompositeToolProvider;
  readonly log: Log;
  open(resolver: Resolver): McpServerShell;
}

/** One endpoint for everything, and one a provider, made when it is first asked for. */
function endpoints(
  providers: readonly ToolProvider[],
  { composite, log, open }: Served,
): { find: Gateway["endpoint"]; stop: Gateway["stop"] } {
  const everything = open(composite);
  const single = new Map<string, McpServerShell>();
  const find = (namespace?: string): McpServerShell | undefined => {
    if (namespace === undefined) return everything;
    const provider = providers.find((candidate) => candidate.namespace === namespace);
    const known = single.get(namespace);
    if (!provider || known) return known;
    const shell = open(new Mount(provider, { log }));
    single.set(namespace, shell);
    return shell;
  };
  const stop = async (): Promise<void> => {
    for (const shell of [everything, ...single.values()]) shell.close();
    // What ends by that is answered within this turn, while the doors are open.
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { find, stop };
}
