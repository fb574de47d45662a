import { isObject } from "../../core/json.ts";
import { RpcError, rpcErrors, type JsonRpcRequest } from "../../wire/jsonrpc.ts";
import { decodeHeader, metaKeys, metaOf, modernVersions, type Headers } from "../../wire/protocol.ts";
import { invalidParams } from "./method.ts";

/**
 * Checks what every modern request must carry, and on HTTP that the headers say the same as the body
 * (specification 2026-07-28, basic, `_meta`; Streamable HTTP, Server Validation). Throws `RpcError`.
 */
export function checkModern(message: JsonRpcRequest, headers: Headers | undefined): void {
  const meta = metaOf(message);
  const version = meta[metaKeys.protocolVersion];
  if (typeof version !== "string") throw malformed(metaKeys.protocolVersion, "a string");
  if (headers) checkHeader("MCP-Protocol-Version", headers("mcp-protocol-version"), version);
  if (!(modernVersions as readonly string[]).includes(version))
    throw new RpcError(rpcErrors.unsupportedProtocolVersion, "Unsupported protocol version", {
      data: { supported: modernVersions, requested: version },
      status: 400,
    });
  if (!isObject(meta[metaKeys.clientCapabilities])) throw malformed(metaKeys.clientCapabilities, "an object");
  if (headers) checkMethodHeaders(message, headers);
}

/** Where `Mcp-Name` comes from, for the methods that need it. */
const nameOf: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

function checkMethodHeaders(message: JsonRpcRequest, headers: Headers): void {
  checkHeader("Mcp-Method", headers("mcp-method"), message.method);
  const member = nameOf[message.method];
  const name = member === undefined ? undefined : message.params?.[member];
  if (typeof name !== "string") return;
  const header = headers("mcp-name");
  const decoded = header === undefined ? undefined : decodeHeader(header);
  if (header !== undefined && decoded === undefined)
    throw mismatch("the Mcp-Name header holds broken base64 or characters that must be encoded");
  checkHeader("Mcp-Name", decoded, name);
}

function checkHeader(name: string, header: string | undefined, body: string): void {
  if (header === undefined) throw mismatch(`the ${name} header is missing`);
  if (header !== body) throw mismatch(`the ${name} header says "${header}", the body "${body}"`);
}

export function mismatch(what: string): RpcError {
  return new RpcError(rpcErrors.headerMismatch, `Header mismatch: ${what}`, { status: 400 });
}

function malformed(key: string, what: string): RpcError {
  return invalidParams(`Every request carries params._meta["${key}"], ${what}`, { status: 400 });
}
