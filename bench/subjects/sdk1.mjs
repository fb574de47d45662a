import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";

/** A server of the official SDK, version 1, with one tool. */
export function createServer() {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  server.registerTool(
    "echo",
    { description: "Echoes.", inputSchema: { message: z.string() } },
    ({ message }) => ({
      content: [{ type: "text", text: message }],
    }),
  );
  return server;
}
