// A server of your own tools: `node examples/own-tool.mjs` speaks MCP on standard input and output.
import { defineTool } from "toolgate";
import { serveTools } from "toolgate/gateway";

const add = defineTool({
  name: "add",
  description: "Adds two numbers.",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
  execute: ({ a, b }) => String(a + b),
});

await serveTools([add]);
