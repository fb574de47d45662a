import { systemClock } from "../core/systemClock.ts";
import { McpServerShell } from "../mcp/server/shell.ts";
import { BuiltinToolProvider } from "../providers/builtin.ts";
import { Mount } from "../providers/mount.ts";
import { toolProviderContract, type MakeProvider } from "../providers/toolProvider.contract.ts";
import { createCaller } from "../runtime/call.ts";
import { ToolRegistry } from "../runtime/registry.ts";
import { memoryPair } from "../transports/memory.ts";
import type { Endpoint } from "../wire/endpoint.ts";
import { Upstream } from "./upstream.ts";

/** An upstream in memory that serves the tools by our own shell, seen through a connection to it. */
const upstreamOver =
  (wrap: (endpoint: Endpoint) => Endpoint): MakeProvider =>
  async (tools) => {
    const registry = new ToolRegistry();
    for (const tool of tools) registry.register(tool);
    const log = (): void => {};
    const caller = createCaller({ resolver: new Mount(BuiltinToolProvider.over(registry), { log }) });
    const shell = new McpServerShell({ caller, serverInfo: { name: "far", version: "1" } });
    const upstream = new Upstream({
      namespace: "far",
      dial: memoryPair(wrap(shell)),
      clock: systemClock,
      log,
      clientInfo: { name: "near", version: "1" },
    });
    upstream.start();
    await upstream.settled();
    return upstream;
  };

/** Knows nothing of `server/discover`. */
const legacyOnly = (endpoint: Endpoint): Endpoint => ({
  handle: (incoming, exchange) =>
    incoming.kind === "request" && incoming.message.method === "server/discover"
      ? endpoint.handle(
          { kind: "request", message: { ...incoming.message, method: "unknown", params: {} } },
          exchange,
        )
      : endpoint.handle(incoming, exchange),
  closed: (session) => endpoint.closed(session),
});

toolProviderContract(
  "An upstream of the modern era",
  upstreamOver((endpoint) => endpoint),
);
toolProviderContract("An upstream of the legacy era", upstreamOver(legacyOnly));
