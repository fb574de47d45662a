import { systemClock } from "../core/systemClock.ts";
import type { ToolProvider } from "../core/provider.ts";
import { McpServerShell } from "../mcp/server/shell.ts";
import { BuiltinToolProvider } from "../providers/builtin.ts";
import { Mount } from "../providers/mount.ts";
import { taskProviderContract } from "../providers/taskProvider.contract.ts";
import { promptProviderContract } from "../providers/promptProvider.contract.ts";
import { resourceProviderContract } from "../providers/resourceProvider.contract.ts";
import { toolProviderContract, type MakeProvider } from "../providers/toolProvider.contract.ts";
import { createCaller } from "../runtime/call.ts";
import { ToolRegistry } from "../runtime/registry.ts";
import { memoryPair } from "../transports/memory.ts";
import type { Endpoint } from "../wire/endpoint.ts";
import { IsolatedUpstream } from "./isolatedUpstream.ts";
import { Upstream } from "./upstream.ts";

type Wrap = (endpoint: Endpoint) => Endpoint;

/** A provider in this process, served in memory by our own shell and seen through a connection to it. */
async function over(
  local: ToolProvider,
  { wrap, isolated }: { wrap: Wrap; isolated: boolean },
): Promise<ToolProvider> {
  const log = (): void => {};
  const caller = createCaller({ resolver: new Mount(local, { log }) });
  const shell = new McpServerShell({ caller, serverInfo: { name: "far", version: "1" } });
  const upstream = new (isolated ? IsolatedUpstream : Upstream)({
    namespace: "far",
    dial: memoryPair(wrap(shell)),
    clock: systemClock,
    log,
    clientInfo: { name: "near", version: "1" },
  });
  upstream.start();
  await upstream.settled();
  return upstream;
}

const modern: Wrap = (endpoint) => endpoint;

/** Knows nothing of `server/discover`. */
const legacy: Wrap = (endpoint) => ({
  handle: (incoming, exchange) =>
    incoming.kind === "request" && incoming.message.method === "server/discover"
      ? endpoint.handle(
          { kind: "request", message: { ...incoming.message, method: "unknown", params: {} } },
          exchange,
        )
      : endpoint.handle(incoming, exchange),
  closed: (session) => endpoint.closed(session),
});

for (const [name, wrap, isolated] of [
  ["An upstream of the modern era", modern, false],
  ["An upstream of the legacy era", legacy, false],
  ["An isolated upstream of the modern era", modern, true],
  ["An isolated upstream of the legacy era", legacy, true],
] as const) {
  const serve = (local: ToolProvider): Promise<ToolProvider> => over(local, { wrap, isolated });
  const serveTools: MakeProvider = (tools) => {
    const registry = new ToolRegistry();
    for (const tool of tools) registry.register(tool);
    return serve(BuiltinToolProvider.over(registry));
  };
  toolProviderContract(name, serveTools);
  resourceProviderContract(name, serve);
  promptProviderContract(name, serve);
  if (wrap === modern) taskProviderContract(name, serve, { tools: "", ids: "far__" });
}
