// The floor over HTTP: parse, echo, encode. No protocol, no checks.
import { createServer } from "node:http";
import { serveControl } from "../control.mjs";

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { id, params } = JSON.parse(Buffer.concat(chunks).toString());
    const result = { content: [{ type: "text", text: params.arguments.message }] };
    const body = JSON.stringify({ jsonrpc: "2.0", id, result });
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    });
    response.end(body);
  });
});
server.listen(0, "127.0.0.1", () => {
  serveControl({ url: `http://127.0.0.1:${server.address().port}/mcp`, tool: "echo" });
});
