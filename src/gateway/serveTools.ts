import type { Log } from "../core/effects.ts";
import type { Middleware } from "../core/operation.ts";
import type { Tool } from "../core/tool.ts";
import { BuiltinToolProvider } from "../providers/builtin.ts";
import { ToolRegistry } from "../runtime/registry.ts";
import { serveStdio } from "../transports/stdio.ts";
import { defaultConfig } from "./config.ts";
import { createGateway } from "./gateway.ts";

export interface ServeToolsOptions {
  readonly middleware?: readonly Middleware[];
  /** Default: warnings and worse go to standard error. */
  readonly log?: Log;
}

/**
 * A server of nothing but these tools, under their own names, on standard input and output. Resolves when the
 * client is gone.
 */
export async function serveTools(tools: readonly Tool[], options: ServeToolsOptions = {}): Promise<void> {
  const { middleware = [], log = logToStderr } = options;
  const registry = new ToolRegistry();
  for (const tool of tools) registry.register(tool);
  const { tools: _, ...config } = defaultConfig(process.cwd());
  const provider = BuiltinToolProvider.over(registry, "tools");
  const gateway = await createGateway(config, { log, middleware, providers: [provider] });
  try {
    await serveStdio(gateway.endpoint("tools")!, { log }).closed;
  } finally {
    await gateway.close();
  }
}

const logToStderr: Log = (level, message, fields) => {
  if (level === "debug" || level === "info" || level === "notice") return;
  process.stderr.write(`${level} ${message}${fields ? ` ${JSON.stringify(fields)}` : ""}\n`);
};
