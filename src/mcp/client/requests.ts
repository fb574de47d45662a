import type { Answers, ToolContext } from "../../core/context.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ClientInfo } from "../../core/principal.ts";
import type { RequestOptions } from "../../wire/peer.ts";
import { metaKeys } from "../../wire/protocol.ts";
import { toFailure } from "./failure.ts";
import type { Inbound } from "./inbound.ts";
import { modernMeta, type Terms } from "./negotiate.ts";
import type { RunningCall } from "./runningCalls.ts";
import type { Wire } from "./wire.ts";

export interface RequestsOptions {
  readonly namespace: string;
  readonly wire: Wire;
  readonly terms: Terms;
  readonly inbound: Inbound;
  /** How the gateway introduces itself. */
  readonly clientInfo: ClientInfo;
}

/** One request of a caller's. */
export interface Asked {
  readonly method: string;
  readonly params: JsonObject;
  /** Completes "while", for the message of a failure. */
  readonly doing: string;
}

/** How requests go out on one connection: what they carry of whom they are made for, and how they fail. */
export class Requests {
  readonly #options: RequestsOptions;
  /** Of the gateway's own requests. Legacy ones carry none. */
  readonly #ownMeta: JsonObject | undefined;

  constructor(options: RequestsOptions) {
    const { terms, clientInfo } = options;
    this.#options = options;
    if (terms.era === "modern") this.#ownMeta = modernMeta(terms.protocolVersion, clientInfo);
  }

  get terms(): Terms {
    return this.#options.terms;
  }

  /** A request of the gateway's own, in which nothing can be asked of anybody. Rejects as `Peer.request` does. */
  own(method: string, params: JsonObject, options?: RequestOptions): Promise<JsonObject> {
    const own = this.#ownMeta ? { ...params, _meta: this.#ownMeta } : params;
    return this.#options.wire.peer.request(method, own, options);
  }

  /** A caller's request, from its beginning to its end. Rejects as `failure` says. */
  async ask(ctx: ToolContext, { method, params, doing }: Asked): Promise<JsonObject> {
    const call = this.enter(ctx);
    try {
      return await this.send(call, method, params);
    } catch (error) {
      throw this.failure(doing, error);
    } finally {
      this.leave(call);
    }
  }

  /** From now on the server's questions and logs may be this caller's. */
  enter(ctx: ToolContext): RunningCall {
    return this.#options.inbound.calls.enter(ctx);
  }

  leave(call: RunningCall): void {
    this.#options.inbound.calls.leave(call);
  }

  /** `params` get the members that say whom the request is made for. Rejects as `Peer.request` does. */
  send(
    call: RunningCall,
    method: string,
    params: JsonObject,
    headers?: Readonly<Record<string, string>>,
  ): Promise<JsonObject> {
    const { ctx } = call;
    params["_meta"] = this.#metaOf(ctx);
    if (this.#ownMeta && ctx.answers) addAnswers(params, ctx.answers);
    const options: { -readonly [K in keyof RequestOptions]: RequestOptions[K] } = {
      cancellation: ctx.cancellation,
      onId: (id) => (call.id = id),
      // Progress is always wanted: it restarts the clock of the call.
      onProgress: (progress) => ctx.progress(progress),
    };
    if (headers) options.headers = headers;
    return this.#options.wire.peer.request(method, params, options);
  }

  /** In the terms of the call path, or `SessionLost`. `doing` completes "while". */
  failure(doing: string, error: unknown): Error {
    return toFailure(this.#options.namespace, doing, error);
  }

  /** What the caller attached; a modern server also learns what may be asked of the caller's client. */
  #metaOf(ctx: ToolContext): JsonObject {
    if (!this.#ownMeta) return ctx.meta;
    const meta: JsonObject = { ...ctx.meta, ...this.#ownMeta };
    meta[metaKeys.clientCapabilities] = ctx.clientCapabilities;
    if (ctx.logLevel !== undefined) meta[metaKeys.logLevel] = ctx.logLevel;
    return meta;
  }
}

function addAnswers(params: JsonObject, { responses, requestState }: Answers): void {
  params["inputResponses"] = responses;
  if (requestState !== undefined) params["requestState"] = requestState;
}
