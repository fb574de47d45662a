import { ToolContext, type LogEntry, type Progress, type ToolContextInit } from "../../core/context.ts";
import { logLevels, type LogLevel } from "../../core/effects.ts";
import type { Principal } from "../../core/principal.ts";
import { metaKeys } from "../../wire/protocol.ts";
import type { MethodRequest, Server } from "./method.ts";
import { toClientInfo } from "./methods/initialize.ts";
import { toLogLevel } from "./methods/setLevel.ts";

/** The client's own name for its conversation, on doors that have no session. */
const sessionKey = "dev.toolgate/session";

/** W3C Trace Context and Baggage (specification 2026-07-28, basic, OpenTelemetry trace context): they travel on to upstreams. */
const traceKeys = ["traceparent", "tracestate", "baggage"] as const;

/** The context of one request: who asks, and the way back for progress and logs. */
export function contextOf(server: Server, request: MethodRequest): ToolContext {
  const { exchange, meta, era } = request;
  const legacy = era === "legacy" ? exchange.session?.legacy : undefined;
  const client = legacy ? legacy.client : toClientInfo(meta[metaKeys.clientInfo]);
  const named = meta[sessionKey];
  const init: { -readonly [K in keyof ToolContextInit]: ToolContextInit[K] } = {
    principal: exchange.principal,
    cancellation: request.cancellation,
    sessionKey: legacy ? exchange.session!.id : ownSession(exchange.principal, named),
  };
  if (client) init.client = client;
  for (const key of traceKeys) {
    if (typeof meta[key] === "string")
      init.metadata = { ...(init.metadata ?? server.context.metadata), [key]: meta[key] };
  }
  const onProgress = progressSender(request);
  if (onProgress) init.onProgress = onProgress;
  const level = legacy ? (legacy.logLevel ?? "info") : modernLevel(request);
  if (level) init.onLog = logSender(request, level);
  return new ToolContext(init, server.context);
}

/** Of a client that has no session: its principal, with the name that it gave, which is nobody else's then. */
function ownSession({ id }: Principal, named: unknown): string {
  return typeof named === "string" ? `${encodeURIComponent(id)}/${named}` : encodeURIComponent(id);
}

/** Undefined where the client asked for none. Progress is a number that grows: what is not is dropped (specification, progress). */
function progressSender(request: MethodRequest): ((progress: Progress) => void) | undefined {
  const progressToken = request.meta[metaKeys.progressToken];
  if (typeof progressToken !== "string" && typeof progressToken !== "number") return undefined;
  let last = -Infinity;
  return (progress) => {
    if (!Number.isFinite(progress.progress) || progress.progress <= last) return;
    last = progress.progress;
    const { progress: value, total, message } = progress;
    request.notify({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: {
        progressToken,
        progress: value,
        ...(Number.isFinite(total) && { total }),
        ...(message !== undefined && { message }),
      },
    });
  };
}

/** A modern request gets logs only if it says from which level on (specification 2026-07-28, logging). */
function modernLevel({ meta }: MethodRequest): LogLevel | undefined {
  const level = meta[metaKeys.logLevel];
  return level === undefined ? undefined : toLogLevel(level, `_meta["${metaKeys.logLevel}"]`);
}

function logSender(request: MethodRequest, from: LogLevel): (entry: LogEntry) => void {
  const threshold = logLevels.indexOf(from);
  return ({ level, data, logger }) => {
    if (logLevels.indexOf(level) < threshold) return;
    request.notify({
      jsonrpc: "2.0",
      method: "notifications/message",
      params: { level, ...(logger !== undefined && { logger }), data },
    });
  };
}
