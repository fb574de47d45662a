import type { Cancellation } from "../../core/cancellation.ts";
import {
  ToolContext,
  type InputRequest,
  type LogEntry,
  type Progress,
  type ToolContextInit,
} from "../../core/context.ts";
import { logLevels, type LogLevel } from "../../core/effects.ts";
import type { JsonObject, Meta } from "../../core/json.ts";
import type { Principal } from "../../core/principal.ts";
import { metaKeys } from "../../wire/protocol.ts";
import type { MethodRequest, Server } from "./method.ts";
import { toClientInfo } from "./methods/initialize.ts";
import { toLogLevel } from "./methods/setLevel.ts";

/** Whatever a call belongs to now. Its request may change while it runs, see `HeldCall`. */
export interface Current {
  readonly request: MethodRequest;
}

/** The client's own name for its conversation, on doors that have no session. */
const sessionKey = "dev.toolgate/session";

/**
 * What the protocol and this gateway say in `_meta` is between two neighbours; anything else travels on, but for
 * `__proto__`, which would be no member of the copy.
 */
const hopKey = /^(?:io\.modelcontextprotocol|dev\.toolgate)\/|^(?:progressToken|__proto__)$/;

/** The context of a call: who asks, and the way back for progress, logs and questions. Throws `RpcError` as `logLevelOf`. */
export function contextOf(
  server: Server,
  current: Current,
  cancellation: Cancellation,
  onAsk?: (question: InputRequest) => Promise<JsonObject>,
): ToolContext {
  const { exchange, meta, era, clientCapabilities } = current.request;
  const legacy = era === "legacy" ? exchange.session?.legacy : undefined;
  const client = legacy ? legacy.client : toClientInfo(meta[metaKeys.clientInfo]);
  const init: { -readonly [K in keyof ToolContextInit]: ToolContextInit[K] } = {
    principal: exchange.principal,
    cancellation,
    clientCapabilities,
    sessionKey: legacy ? exchange.session!.id : ownSession(exchange.principal, meta[sessionKey]),
    onProgress: progressSender(current),
  };
  if (client) init.client = client;
  if (exchange.closeStream) init.onCloseStream = () => exchange.closeStream?.();
  const travelling = travellingMeta(meta);
  if (travelling) init.meta = travelling;
  if (onAsk) init.onAsk = onAsk;
  const level = logLevelOf(current.request);
  if (level) {
    init.logLevel = level;
    init.onLog = logSender(current, level);
  }
  return new ToolContext(init, server.context);
}

function travellingMeta(meta: Meta): Meta | undefined {
  let travelling: Meta | undefined;
  for (const key in meta) if (!hopKey.test(key)) (travelling ??= {})[key] = meta[key];
  return travelling;
}

/** Of a client that has no session: its principal, with the name that it gave, which is nobody else's then. */
function ownSession({ id }: Principal, named: unknown): string {
  return typeof named === "string" ? `${encodeURIComponent(id)}/${named}` : encodeURIComponent(id);
}

/** Progress is a number that grows: what is not is dropped (specification, progress), and all of it where the client asked for none. */
function progressSender(current: Current): (progress: Progress) => void {
  let last = -Infinity;
  return ({ progress, total, message }) => {
    const progressToken = current.request.meta[metaKeys.progressToken];
    if (typeof progressToken !== "string" && typeof progressToken !== "number") return;
    if (!Number.isFinite(progress) || progress <= last) return;
    last = progress;
    const params: JsonObject = { progressToken, progress };
    if (Number.isFinite(total)) params["total"] = total;
    if (message !== undefined) params["message"] = message;
    current.request.notify({ jsonrpc: "2.0", method: "notifications/progress", params });
  };
}

/**
 * From which level on a request gets logs. A modern one gets none unless it says so (specification 2026-07-28,
 * logging). Throws `RpcError` for what is no level.
 */
export function logLevelOf({ era, exchange, meta }: MethodRequest): LogLevel | undefined {
  if (era === "legacy") return exchange.session?.legacy?.logLevel ?? "info";
  const level = meta[metaKeys.logLevel];
  return level === undefined ? undefined : toLogLevel(level, `_meta["${metaKeys.logLevel}"]`);
}

function logSender(current: Current, first: LogLevel): (entry: LogEntry) => void {
  const began = current.request;
  return ({ level, data, logger }) => {
    // Whoever has taken the call over may want other logs, or none.
    const from = current.request === began ? first : logLevelOf(current.request);
    if (from === undefined || logLevels.indexOf(level) < logLevels.indexOf(from)) return;
    current.request.notify({
      jsonrpc: "2.0",
      method: "notifications/message",
      params: { level, ...(logger !== undefined && { logger }), data },
    });
  };
}
