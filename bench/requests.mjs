// The messages that the driver sends, as a client of either era would.

export const modern = "2026-07-28";
export const legacy = "2025-11-25";

const clientInfo = { name: "toolgate-bench", version: "1.0.0" };

export const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: legacy, capabilities: {}, clientInfo },
};
export const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };

/** A `tools/call` whose answer must hold `message`. */
export function toolsCall(era, tool, id, message) {
  const params = { name: tool, arguments: { message } };
  if (era === "modern")
    params._meta = {
      "io.modelcontextprotocol/protocolVersion": modern,
      "io.modelcontextprotocol/clientInfo": clientInfo,
      "io.modelcontextprotocol/clientCapabilities": {},
    };
  return { jsonrpc: "2.0", id, method: "tools/call", params };
}

/** HTTP headers of every message, and those of a call. */
export function headersFor(era, tool, { token, session } = {}) {
  return {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    ...(token && { authorization: `Bearer ${token}` }),
    ...(session && { "mcp-session-id": session }),
    "mcp-protocol-version": era === "modern" ? modern : legacy,
    ...(era === "modern" && { "mcp-method": "tools/call", "mcp-name": tool }),
  };
}

/** The text that a call sends and wants back: some 100 bytes, different for every call. */
export const messageFor = (id) => `message ${id} ${"x".repeat(80)}`;
