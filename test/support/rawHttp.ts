import { once } from "node:events";
import { request, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { JsonObject } from "../../src/core/json.ts";
import { metaKeys } from "../../src/wire/protocol.ts";
import type { Address } from "./clients.ts";

/** Header fields by name; undefined takes a default away. */
type Headers = Readonly<Record<string, string | undefined>>;

export interface Sent {
  /** Default POST. */
  readonly method?: string;
  /** In place of the address's own. */
  readonly path?: string;
  readonly headers?: Headers;
  /** A string goes out as it is, anything else as JSON. */
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Of the body, where it is JSON. */
  readonly json: unknown;
}

/** Sends one request on a connection of its own. `response` resolves with its head. */
export function open(
  { url, token }: Address,
  sent: Sent = {},
): { response: Promise<IncomingMessage>; abort: () => void } {
  const { method = "POST", path, headers = {}, body } = sent;
  const all = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...headers,
  };
  const req = request(new URL(path ?? url, url), {
    method,
    agent: false,
    headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
  });
  req.end(typeof body === "string" || body === undefined ? body : JSON.stringify(body));
  const response = once(req, "response").then(([res]) => res as IncomingMessage);
  // Whoever aborts does not wait for the response.
  response.catch(() => {});
  req.on("error", () => {});
  return { response, abort: () => void req.destroy() };
}

export async function http(address: Address, sent: Sent = {}): Promise<Answer> {
  const res = await open(address, sent).response;
  let text = "";
  for await (const chunk of res.setEncoding("utf8")) text += chunk as string;
  const isJson = res.headers["content-type"] === "application/json";
  return {
    status: res.statusCode ?? 0,
    headers: res.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}

export const legacy = (method: string, params: JsonObject = {}, id: number | string = 1) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

/** A modern request with all that its body must carry. */
export const modern = (method: string, params: JsonObject = {}, id: number | string = 1) =>
  legacy(
    method,
    { ...params, _meta: { [metaKeys.protocolVersion]: "2026-07-28", [metaKeys.clientCapabilities]: {} } },
    id,
  );

/** A modern request with the headers that go with it. */
export function modernPost(method: string, params: JsonObject = {}, id: number | string = 1) {
  const { name } = params;
  const headers = {
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": method,
    ...(typeof name === "string" && { "Mcp-Name": name }),
  };
  return { headers, body: modern(method, params, id) };
}

export const initialize = (protocolVersion = "2025-11-25") =>
  legacy("initialize", {
    protocolVersion,
    capabilities: {},
    clientInfo: { name: "toolgate-tests", version: "1.0.0" },
  });

export const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };

/** Opens a legacy session; resolves with the headers that its requests carry. */
export async function openSession(address: Address, protocolVersion = "2025-11-25"): Promise<Headers> {
  const answer = await http(address, { body: initialize(protocolVersion) });
  const headers = {
    "Mcp-Session-Id": answer.headers["mcp-session-id"] as string,
    "MCP-Protocol-Version": protocolVersion,
  };
  await http(address, { headers, body: initialized });
  return headers;
}
