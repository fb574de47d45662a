// The official SDK, version 1: one session, answers as JSON (cheaper for it than its default, an SSE stream each).
import { randomUUID } from "node:crypto";
import { createServer as createHttpServer } from "node:http";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { serveControl } from "../control.mjs";
import { createServer } from "./sdk1.mjs";

const transport = new StreamableHTTPServerTransport({
  sessionIdGenerator: () => randomUUID(),
  enableJsonResponse: true,
});
await createServer().connect(transport);
const http = createHttpServer((request, response) => void transport.handleRequest(request, response));
http.listen(0, "127.0.0.1", () => {
  serveControl({ url: `http://127.0.0.1:${http.address().port}/mcp`, tool: "echo" });
});
