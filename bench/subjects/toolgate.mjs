import { BuiltinToolProvider, ToolRegistry, ToolResult, defineTool, hooks } from "toolgate";
import { createGateway, parseConfig } from "toolgate/gateway";

const echo = defineTool({
  name: "echo",
  description: "Echoes.",
  inputSchema: {
    type: "object",
    properties: { message: { type: "string" } },
    required: ["message"],
    additionalProperties: false,
  },
  execute: ({ message }) => ToolResult.success(message),
});

const passThrough = (name) => ({ name, call: (operation, ctx, next) => next(operation, ctx) });

/** All that `toolgate serve` wires, and around its own guards a user's: both hooks and two middlewares that only pass on. */
export async function createSubject() {
  const { config } = parseConfig("{}", { file: "/toolgate.json", env: {} });
  const registry = new ToolRegistry();
  registry.register(echo);
  const log = (level, message) => console.error(level, message);
  const middleware = [hooks({ beforeCall() {}, afterCall() {} }), passThrough("one"), passThrough("two")];
  const providers = [BuiltinToolProvider.over(registry, "bench")];
  const gateway = await createGateway(config, { log, providers, middleware });
  return { gateway, config, log, tool: "bench__echo" };
}
