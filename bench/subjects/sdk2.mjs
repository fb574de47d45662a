import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

/** A server of the official SDK, version 2, with one tool. */
export function createServer() {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  const inputSchema = z.object({ message: z.string() });
  server.registerTool("echo", { description: "Echoes.", inputSchema }, ({ message }) => ({
    content: [{ type: "text", text: message }],
  }));
  return server;
}
