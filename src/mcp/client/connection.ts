import { Cancellation } from "../../core/cancellation.ts";
import type { ToolContext } from "../../core/context.ts";
import type { Clock, Log } from "../../core/effects.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { ClientInfo } from "../../core/principal.ts";
import type { ListKind, ToolFacts, ToolProvider } from "../../core/provider.ts";
import type { ToolResult } from "../../core/result.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import { RpcError, rpcErrors } from "../../wire/jsonrpc.ts";
import { CancelledError, TimeoutError } from "../../wire/peer.ts";
import { toFailure } from "./failure.ts";
import type { Inbound } from "./inbound.ts";
import { listTools } from "./listTools.ts";
import { modernMeta, type Terms } from "./negotiate.ts";
import { paramHeaders, paramHeaderValues, type ParamHeader } from "./paramHeaders.ts";
import { Subscription } from "./subscription.ts";
import { toToolResult } from "./toolResult.ts";
import type { Wire } from "./wire.ts";

/** What the configuration says of an upstream's tools. */
export interface FactOptions {
  /** Arguments are checked here, against the upstream's schemas, before they are sent. Default false. */
  readonly validateArguments?: boolean;
  /** For one call, in milliseconds; replaces the gateway's time-out. */
  readonly timeoutMs?: number;
}

export function upstreamFacts({ validateArguments, timeoutMs }: FactOptions): ToolFacts {
  return {
    validation: validateArguments ? "upstream-checked" : "upstream",
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

export interface ConnectionOptions extends FactOptions {
  readonly namespace: string;
  readonly wire: Wire;
  readonly terms: Terms;
  readonly inbound: Inbound;
  readonly clock: Clock;
  readonly log: Log;
  readonly clientInfo: ClientInfo;
  /** How long all pages of a list may take together, in milliseconds. Default 30,000. */
  readonly listMs?: number;
}

/** W3C Trace Context and Baggage: all that goes to an upstream of what a caller attached. */
const traceKeys = ["traceparent", "tracestate", "baggage"];

/**
 * One connection to an MCP server, of either era, as a provider of its tools. Beside `ToolError` its methods
 * reject with `SessionLost`: the request has not run, and only a new connection will do.
 */
export class UpstreamConnection implements ToolProvider {
  readonly namespace: string;
  readonly terms: Terms;
  /** Resolves with the reason when the server is gone; not after `close`. Never rejects. */
  readonly gone: Promise<Error>;
  readonly #options: ConnectionOptions;
  readonly #facts: ToolFacts;
  readonly #meta: JsonObject | undefined;
  readonly #subscription: Subscription | undefined;
  #headers = new Map<string, readonly ParamHeader[]>();

  constructor(options: ConnectionOptions) {
    const { namespace, wire, terms, clientInfo } = options;
    this.#options = options;
    this.namespace = namespace;
    this.terms = terms;
    this.gone = wire.gone;
    this.#facts = upstreamFacts(options);
    if (terms.era === "modern") this.#meta = modernMeta(terms.protocolVersion, clientInfo);
    if (terms.era === "modern" && announcesTools(terms)) this.#subscription = this.#subscribe();
  }

  /** Asks the server: nothing is kept but what calls need. */
  async listTools(): Promise<readonly ToolDefinition[]> {
    const { namespace, log, wire, clock, listMs = 30_000 } = this.#options;
    const cancellation = new Cancellation();
    const timer = clock.timer(() => cancellation.cancel("timed out"), listMs);
    try {
      const tools = await listTools({
        namespace,
        log,
        checkHeaders: this.terms.era === "modern",
        ask: (params) => wire.peer.request("tools/list", this.#params(params), { cancellation }),
      });
      if (this.terms.era === "modern") this.#headers = headersByTool(tools);
      return tools;
    } catch (error) {
      if (isUnknownMethod(error) && this.terms.capabilities["tools"] === undefined) return [];
      const late = error instanceof CancelledError ? new TimeoutError(`not within ${listMs} ms`) : error;
      throw toFailure(namespace, "its tools were listed", late);
    } finally {
      timer.stop();
    }
  }

  async callTool(name: string, args: JsonObject, ctx: ToolContext): Promise<ToolResult> {
    const { namespace, inbound } = this.#options;
    const leave = inbound.enter(ctx);
    try {
      const result = await this.#call(name, args, ctx).catch((error: unknown) => {
        if (!isHeaderMismatch(error)) throw error;
        // The schema behind its headers has changed, and nothing has run (Streamable HTTP, Client Behavior).
        return this.listTools().then(() => this.#call(name, args, ctx));
      });
      return toToolResult(result, namespace, name);
    } catch (error) {
      throw toFailure(namespace, `${name} was called`, error);
    } finally {
      leave();
    }
  }

  facts(): ToolFacts {
    return this.#facts;
  }

  watch(listener: (kind: ListKind) => void): () => void {
    return this.#options.inbound.watch(() => listener("tools"));
  }

  /** Calls in flight reject with `Unavailable`. */
  async close(): Promise<void> {
    this.#subscription?.close();
    await this.#options.wire.close(new Error("the gateway closed the connection"));
  }

  #call(name: string, args: JsonObject, ctx: ToolContext): Promise<JsonObject> {
    const headers = this.#headers.get(name);
    const trace = traceOf(ctx);
    const params = { name, arguments: args, ...(trace && { _meta: trace }) };
    return this.#options.wire.peer.request("tools/call", this.#params(params), {
      cancellation: ctx.cancellation,
      // Progress is always wanted: it restarts the clock of the call.
      onProgress: (progress) => ctx.progress(progress),
      ...(headers && { headers: paramHeaderValues(headers, args) }),
    });
  }

  /** A modern request says in its `_meta` what it speaks. */
  #params(params: JsonObject): JsonObject {
    if (!this.#meta) return params;
    return { ...params, _meta: { ...(params["_meta"] as JsonObject | undefined), ...this.#meta } };
  }

  #subscribe(): Subscription {
    const { clock, inbound, wire } = this.#options;
    const subscription = new Subscription({
      clock,
      listen: (cancellation) =>
        wire.peer.request(
          "subscriptions/listen",
          this.#params({ notifications: { toolsListChanged: true } }),
          { cancellation },
        ),
      onGap: () => inbound.toolsChanged(),
    });
    inbound.onSubscription = (event) => subscription.heard(event);
    void wire.gone.then(() => subscription.close());
    subscription.open();
    return subscription;
  }
}

function announcesTools({ capabilities }: Terms): boolean {
  return isObject(capabilities["tools"]) && capabilities["tools"]["listChanged"] === true;
}

function headersByTool(tools: readonly ToolDefinition[]): Map<string, readonly ParamHeader[]> {
  const byTool = new Map<string, readonly ParamHeader[]>();
  for (const { name, inputSchema } of tools) {
    const headers = paramHeaders(inputSchema);
    if (typeof headers !== "string" && headers.length > 0) byTool.set(name, headers);
  }
  return byTool;
}

function traceOf({ metadata }: ToolContext): JsonObject | undefined {
  let trace: JsonObject | undefined;
  for (const key of traceKeys) {
    const value = metadata[key];
    if (typeof value === "string") trace = { ...trace, [key]: value };
  }
  return trace;
}

function isUnknownMethod(error: unknown): boolean {
  return error instanceof RpcError && error.code === rpcErrors.methodNotFound;
}

function isHeaderMismatch(error: unknown): boolean {
  return error instanceof RpcError && error.code === rpcErrors.headerMismatch;
}
