// The guarded call path inside your own program, with no server at all.
import {
  BuiltinToolProvider,
  CompositeToolProvider,
  createAjvValidator,
  createCaller,
  defineTool,
  hooks,
  ToolContext,
  ToolError,
  ToolRegistry,
  ToolResult,
  validate,
} from "toolgate";

const registry = new ToolRegistry();
registry.register(
  defineTool({
    name: "greet",
    description: "Greets somebody.",
    inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    execute: ({ name }) => `Hello, ${name}!`,
  }),
);

const caller = createCaller({
  resolver: new CompositeToolProvider().add(BuiltinToolProvider.over(registry, "app")),
  middleware: [
    hooks({
      beforeCall(call) {
        if (call.arguments.name === "Mallory")
          throw new ToolError("PermissionDenied", "Mallory is not greeted here.");
      },
    }),
    validate({ validator: createAjvValidator() }),
  ],
});

const ctx = new ToolContext({ agentId: "example" });
console.log((await caller.list(ctx)).map((tool) => tool.name));
// prints: [ 'app__greet' ]

for (const args of [{ name: "Ada" }, { name: "Mallory" }, { name: 7 }]) {
  const outcome = await caller.call({ kind: "tools/call", name: "app__greet", arguments: args }, ctx);
  if (outcome.type === "error") throw outcome.error;
  console.log(outcome.result.isError ? "refused:" : "answered:", ToolResult.text(outcome.result));
}
// prints: answered: Hello, Ada!
// prints: refused: Mallory is not greeted here.
// prints: refused: Invalid arguments for app__greet:
// prints: - /name: must be string, got number
