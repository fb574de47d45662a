import { isObject, type JsonObject } from "../../core/json.ts";
import type { ClientInfo } from "../../core/principal.ts";
import { HttpError } from "../../transports/http/dial.ts";
import { RpcError, rpcErrors } from "../../wire/jsonrpc.ts";
import { TimeoutError } from "../../wire/peer.ts";
import {
  legacyVersions,
  metaKeys,
  modernVersions,
  supportedVersions,
  type Era,
} from "../../wire/protocol.ts";
import type { Wire } from "./wire.ts";

/** What both sides have agreed on, and what the server says of itself. */
export interface Terms {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  /** The server's `Implementation`: self-reported, for display. */
  readonly serverInfo?: JsonObject;
  readonly instructions?: string;
}

export interface Negotiation {
  readonly wire: Wire;
  readonly clientInfo: ClientInfo;
  /** How long `server/discover` may go unanswered before the server counts as legacy, in milliseconds. */
  readonly probeMs: number;
  /** False for a server that is known to be legacy. */
  readonly probe: boolean;
}

/** `late`: no answer in time, which a legacy server gives as well as a modern one that is slow to start. */
type Probed = Terms | "legacy" | "late";

/**
 * Finds the server's era (specification 2026-07-28, basic/versioning, Backward Compatibility): a modern one
 * answers `server/discover`; with any other gets `initialize`. Rejects with an `Error` for a person.
 */
export async function negotiate(ask: Negotiation): Promise<Terms> {
  const probed = ask.probe ? await discover(ask, ask.probeMs) : "legacy";
  if (typeof probed === "object") return probed;
  try {
    return await initialize(ask);
  } catch (error) {
    if (probed !== "late" || !isAnswer(error)) throw readable(error);
    // It answers by now: a modern server was only slow to start.
    const again = await discover(ask);
    if (typeof again === "object") return again;
    throw readable(error);
  }
}

/**
 * What a legacy server may ask, since it can be relayed to the client whose call runs (schema 2025-11-25,
 * ClientCapabilities). Whether that client can answer shows when it is asked.
 */
const relayed = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

/** `_meta` of a modern request of the gateway's own, in which nothing can be asked of anybody. */
export function modernMeta(protocolVersion: string, clientInfo: ClientInfo): JsonObject {
  return {
    [metaKeys.protocolVersion]: protocolVersion,
    [metaKeys.clientInfo]: clientInfo,
    [metaKeys.clientCapabilities]: {},
  };
}

/** The server has said something, if not what was asked. */
function isAnswer(error: unknown): boolean {
  return error instanceof RpcError || error instanceof HttpError || error instanceof NoCommonVersion;
}

async function discover(ask: Negotiation, timeoutMs?: number, again = false): Promise<Probed> {
  const { wire, clientInfo } = ask;
  const params = { _meta: modernMeta(modernVersions[0], clientInfo) };
  try {
    const options = timeoutMs === undefined ? {} : { timeoutMs };
    return modernTerms(await wire.peer.request("server/discover", params, options));
  } catch (error) {
    if (error instanceof TimeoutError) return "late";
    // It wants another modern revision than the one that was named: of those, the one that is spoken here is tried.
    if (!again && wantsModern(error)) return discover(ask, timeoutMs, true);
    if (error instanceof RpcError) return afterRefusal(error);
    if (error instanceof HttpError && !isDenied(error)) return "legacy";
    throw readable(error);
  }
}

function modernTerms(result: JsonObject): Terms | "legacy" {
  const versions = result["supportedVersions"];
  // Some legacy servers answer whatever they are asked.
  if (!Array.isArray(versions)) return "legacy";
  const protocolVersion = modernVersions.find((version) => versions.includes(version));
  if (protocolVersion === undefined) return legacyOrNone(versions);
  const serverInfo = isObject(result["_meta"]) ? result["_meta"][metaKeys.serverInfo] : undefined;
  return terms("modern", protocolVersion, { ...result, serverInfo });
}

function wantsModern(error: unknown): boolean {
  if (!(error instanceof RpcError) || error.code !== rpcErrors.unsupportedProtocolVersion) return false;
  const supported = isObject(error.data) ? error.data["supported"] : undefined;
  return Array.isArray(supported) && modernVersions.some((version) => supported.includes(version));
}

function afterRefusal(error: RpcError): "legacy" {
  const supported = isObject(error.data) ? error.data["supported"] : undefined;
  if (error.code === rpcErrors.unsupportedProtocolVersion && Array.isArray(supported))
    return legacyOrNone(supported);
  // Modern servers alone know these two: to initialize would not help.
  if (error.code === rpcErrors.headerMismatch || error.code === rpcErrors.missingClientCapability)
    throw new Error(`it refused server/discover: ${error.message}`);
  return "legacy";
}

function legacyOrNone(versions: readonly unknown[]): "legacy" {
  if (legacyVersions.some((version) => versions.includes(version))) return "legacy";
  throw new NoCommonVersion(versions.join(", ") || "no revision at all");
}

class NoCommonVersion extends Error {
  constructor(theirs: string) {
    super(`no common revision of MCP: it speaks ${theirs}, this gateway ${supportedVersions.join(", ")}`);
  }
}

async function initialize({ wire, clientInfo }: Negotiation): Promise<Terms> {
  // Without a time-out of its own: it must not be cancelled (specification 2025-11-25, basic/utilities/cancellation).
  const result = await wire.peer.request("initialize", {
    protocolVersion: legacyVersions[0],
    capabilities: relayed,
    clientInfo,
  });
  const version = legacyVersions.find((one) => one === result["protocolVersion"]);
  if (version === undefined)
    throw new NoCommonVersion(JSON.stringify(result["protocolVersion"]) ?? "none that it names");
  wire.link.negotiated?.(version);
  // Waited for: over HTTP the next request could overtake it.
  await wire.peer.notify("notifications/initialized");
  return terms("legacy", version, result);
}

function terms(era: Era, protocolVersion: string, result: JsonObject): Terms {
  const { capabilities, serverInfo, instructions } = result;
  return {
    era,
    protocolVersion,
    capabilities: isObject(capabilities) ? capabilities : {},
    ...(isObject(serverInfo) && { serverInfo }),
    ...(typeof instructions === "string" && { instructions }),
  };
}

function isDenied(error: unknown): error is HttpError {
  return error instanceof HttpError && (error.status === 401 || error.status === 403);
}

/** Says what to do about a refused login. */
export function readable(error: unknown): unknown {
  if (!isDenied(error)) return error;
  return new Error(
    `it wants credentials, or others than these: set "headers" of this server, for example "Authorization" (${error.message})`,
    { cause: error },
  );
}
