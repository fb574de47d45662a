import { logLevels, type Log, type LogLevel } from "../../core/effects.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { ListKind } from "../../core/provider.ts";
import {
  isRequestId,
  type Incoming,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type RequestId,
} from "../../wire/jsonrpc.ts";
import { methodNotFound, type Origin } from "../../wire/peer.ts";
import { metaKeys, metaOf } from "../../wire/protocol.ts";
import { isQuestionMethod, relayQuestion } from "./questions.ts";
import { RunningCalls } from "./runningCalls.ts";
import type { Subscription } from "./subscription.ts";

/** The longest upstream log line that goes into the gateway's own log, in characters. */
const maxLogged = 1_000;

/** Who hears what changes at the server. */
export interface ChangeListener {
  listChanged(kind: ListKind): void;
  /** `params` of `notifications/resources/updated`, without the protocol's own `_meta`. */
  resourceUpdated(params: JsonObject & { readonly uri: string }): void;
  /** Updates of resources may have been missed. */
  updatesMissed(): void;
}

/** What a server sends of its own accord, and who hears it. */
export class Inbound {
  readonly calls = new RunningCalls();
  /** Those that hear of their life: they have begun, or the server has ended them. */
  readonly subscriptions: Subscription[] = [];
  /** Set once the server is known to be of the era in which servers ask. */
  mayAsk = false;
  readonly #namespace: string;
  readonly #log: Log;
  readonly #listeners = new Set<ChangeListener>();

  constructor(namespace: string, log: Log) {
    this.#namespace = namespace;
    this.#log = log;
  }

  /** Returns how to stop. */
  watch(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  listChanged(kind: ListKind): void {
    for (const listener of this.#listeners) listener.listChanged(kind);
  }

  updatesMissed(): void {
    for (const listener of this.#listeners) listener.updatesMissed();
  }

  /** Anything may have been missed. */
  missed(): void {
    for (const kind of ["tools", "prompts", "resources"] as const) this.listChanged(kind);
    this.updatesMissed();
  }

  request(request: JsonRpcRequest, origin: Origin): Promise<JsonObject> | JsonObject {
    const { method } = request;
    if (method === "ping") return {};
    if (!this.mayAsk || !isQuestionMethod(method)) throw methodNotFound(method);
    return relayQuestion(request, origin, { namespace: this.#namespace, calls: this.calls });
  }

  notification({ method, params = {} }: JsonRpcNotification, cause?: RequestId): void {
    switch (method) {
      case "notifications/tools/list_changed":
        return this.listChanged("tools");
      case "notifications/prompts/list_changed":
        return this.listChanged("prompts");
      case "notifications/resources/list_changed":
        return this.listChanged("resources");
      case "notifications/resources/updated":
        return this.#updated(params);
      case "notifications/message":
        return this.#message(params, cause);
      case "notifications/subscriptions/acknowledged":
        return this.#acknowledged(params, cause);
      // A server cancels its own questions, which is not told here, and subscriptions.
      case "notifications/cancelled":
        return this.#cancelled(params["requestId"]);
    }
  }

  stray(incoming: Incoming): void {
    const what =
      incoming.kind === "invalid"
        ? `a message that cannot be read (${incoming.reason})`
        : "an answer to nothing";
    this.#log("debug", `Upstream "${this.#namespace}" sent ${what}.`);
  }

  #updated(params: JsonObject): void {
    const { uri, _meta, ...rest } = params;
    if (typeof uri !== "string") return;
    const { [metaKeys.subscriptionId]: _, ...meta } = isObject(_meta) ? _meta : {};
    const told = { uri, ...rest, ...(Object.keys(meta).length > 0 && { _meta: meta }) };
    for (const listener of this.#listeners) listener.resourceUpdated(told);
  }

  #acknowledged(params: JsonObject, cause: RequestId | undefined): void {
    const id = metaOf({ params })[metaKeys.subscriptionId] ?? cause;
    const { notifications } = params;
    for (const subscription of this.subscriptions)
      subscription.acknowledged(id, isObject(notifications) ? notifications : {});
  }

  #cancelled(id: unknown): void {
    if (isRequestId(id)) for (const subscription of this.subscriptions) subscription.cancelled(id);
  }

  #message({ level, data, logger }: JsonObject, cause: RequestId | undefined): void {
    const known: LogLevel = logLevels.find((one) => one === level) ?? "info";
    const call = this.calls.owner(cause);
    if (typeof call === "object")
      return call.ctx.log(known, data, typeof logger === "string" ? logger : undefined);
    const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
    this.#log(known, `Upstream "${this.#namespace}": ${text.slice(0, maxLogged)}`);
  }
}
