// The official SDK, version 2, as its documentation serves both eras: one handler, no session.
import { createServer as createHttpServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { serveControl } from "../control.mjs";
import { createServer } from "./sdk2.mjs";

const handle = toNodeHandler(createMcpHandler(createServer));
const http = createHttpServer((request, response) => void handle(request, response));
http.listen(0, "127.0.0.1", () => {
  serveControl({ url: `http://127.0.0.1:${http.address().port}/mcp`, tool: "echo" });
});
