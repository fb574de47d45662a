import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bridge-raw", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {}, sampling: {}, roots: {} },
};

/**
 * One call of a tool by a modern client over a connection of its own, as the official client cannot make one. Resolves
 * to the JSON-RPC response as it came.
 */
export async function callToolAlone({ url, token }, params) {
  const call = request(url, {
    method: "POST",
    agent: false,
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": "tools/call",
      "Mcp-Name": params.name,
    },
  });
  const message = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { arguments: {}, ...params, _meta },
  };
  call.end(JSON.stringify(message));
  const [response] = await once(call, "response");
  return lastMessage(response.headers["content-type"] ?? "", await text(response));
}

/** The response is what a stream of events ends with. */
function lastMessage(contentType, body) {
  if (!contentType.startsWith("text/event-stream")) return JSON.parse(body);
  const data = body.split("\n").filter((line) => line.startsWith("data:") && line.length > "data: ".length);
  return JSON.parse(data.at(-1).slice("data:".length));
}
