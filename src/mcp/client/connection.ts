import type { ToolContext } from "../../core/context.ts";
import type { Clock, Log } from "../../core/effects.ts";
import { ToolError } from "../../core/errors.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { CompletionRequest, ListKind, ProviderInfo } from "../../core/provider.ts";
import type { InputRequired, OperationResult } from "../../core/result.ts";
import type { TaskMethod } from "../../core/tasks.ts";
import { RpcError, rpcErrors } from "../../wire/jsonrpc.ts";
import { completed, toAnswer, unsupported } from "./answer.ts";
import { named } from "./failure.ts";
import type { ChangeListener } from "./inbound.ts";
import type { List } from "./listPages.ts";
import { ListReader } from "./listReader.ts";
import type { ListName } from "./lists.ts";
import type { Terms } from "./negotiate.ts";
import { openSubscription } from "./openSubscription.ts";
import { Requests, type RequestsOptions } from "./requests.ts";
import { LegacyResourceChanges, ModernResourceChanges, type ResourceChanges } from "./resourceChanges.ts";
import { ToolCalls } from "./toolCalls.ts";

export interface ConnectionOptions extends RequestsOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** How long all pages of a list may take together, in milliseconds. Default 30,000. */
  readonly listMs?: number;
}

/**
 * One connection to an MCP server, of either era. Beside `ToolError` its methods reject with `SessionLost`: the
 * request has not run, and only a new connection will do.
 */
export class UpstreamConnection {
  readonly namespace: string;
  readonly terms: Terms;
  /** Resolves with the reason when the server is gone; not after `close`. Never rejects. */
  readonly gone: Promise<Error>;
  readonly #options: ConnectionOptions;
  readonly #requests: Requests;
  readonly #lists: ListReader;
  readonly #toolCalls: ToolCalls;
  readonly #changes: ResourceChanges;

  constructor(options: ConnectionOptions) {
    const { namespace, wire, terms, inbound, clock } = options;
    const requests = new Requests(options);
    this.#options = options;
    this.namespace = namespace;
    this.terms = terms;
    this.gone = wire.gone;
    this.#requests = requests;
    this.#lists = new ListReader({ ...options, requests });
    this.#toolCalls = new ToolCalls({ namespace, requests, lists: this.#lists });
    inbound.mayAsk = terms.era === "legacy";
    if (terms.era === "modern") {
      this.#changes = new ModernResourceChanges(requests, { inbound, clock });
      this.#listenForLists();
    } else {
      this.#changes = new LegacyResourceChanges(requests);
      this.#wantLogs();
    }
    void wire.gone.then(() => this.#closeSubscriptions());
  }

  get info(): ProviderInfo {
    const { capabilities, instructions } = this.terms;
    return instructions === undefined ? { capabilities } : { capabilities, instructions };
  }

  /** Asks the server: nothing is kept but what calls need. Empty for what the server does not announce. */
  list(name: ListName): Promise<List> {
    return this.#lists.read(name);
  }

  callTool(name: string, args: JsonObject, ctx: ToolContext): Promise<OperationResult> {
    return this.#toolCalls.call(name, args, ctx);
  }

  async readResource(uri: string, ctx: ToolContext): Promise<JsonObject | InputRequired> {
    const doing = `the resource ${uri} was read`;
    const asked = { method: "resources/read", params: { uri }, doing };
    const result = await this.#requests.ask(ctx, asked).catch((error: unknown) => {
      // After an answer to a question it may be the answer that is wrong.
      throw ctx.answers ? error : unlessUnknown(error, uri);
    });
    return toAnswer(result, ctx, {
      namespace: this.namespace,
      what: `resources/read ${uri}`,
      member: "contents",
    });
  }

  async getPrompt(name: string, args: JsonObject, ctx: ToolContext): Promise<JsonObject | InputRequired> {
    const doing = `the prompt ${name} was got`;
    const params = { name, arguments: args };
    const result = await this.#requests.ask(ctx, { method: "prompts/get", params, doing });
    return toAnswer(result, ctx, {
      namespace: this.namespace,
      what: `prompts/get ${name}`,
      member: "messages",
    });
  }

  async complete(request: CompletionRequest, ctx: ToolContext): Promise<JsonObject> {
    const params = { ...request };
    const doing = "an argument was completed";
    const result = await this.#requests.ask(ctx, { method: "completion/complete", params, doing });
    const { resultType = "complete", completion } = result;
    const question = { namespace: this.namespace, what: "completion/complete" };
    if (resultType !== "complete") throw unsupported(resultType, question);
    if (isObject(completion) && Array.isArray(completion["values"])) return completed(result);
    throw new ToolError(
      "ExecutionFailed",
      `${named(this.namespace)} answered completion/complete with something that is no completion: it has no "values" array.`,
    );
  }

  /** A method of the tasks extension, in the server's own terms. */
  async task(method: TaskMethod, params: JsonObject, ctx: ToolContext): Promise<JsonObject> {
    const asked = { method, params: { ...params }, doing: `${method} was asked` };
    const result = await this.#requests.ask(ctx, asked).catch((error: unknown) => {
      // Or an update's answers are wrong: the server's own words tell.
      if (codeOf(error) !== rpcErrors.invalidParams) throw error;
      throw new ToolError("NotFound", (error as Error).message, { cause: error });
    });
    return completed(result);
  }

  /**
   * Resolves once the server tells changes of that URI. Whoever subscribes must unsubscribe, also after a rejection:
   * with `ToolError` `Unsupported` where the server does not tell any.
   */
  async subscribe(uri: string): Promise<void> {
    try {
      this.#needSubscriptions();
      await this.#changes.begin(uri);
    } catch (error) {
      throw unlessUnknown(this.#requests.failure(`changes of ${uri} were asked for`, error), uri);
    }
  }

  unsubscribe(uri: string): void {
    this.#changes.end(uri);
  }

  /** Subscribes to all that was subscribed to on an earlier connection. Never rejects: resolves with how many failed. */
  async resubscribe(uris: Iterable<string>): Promise<number> {
    return this.#announces("resources", "subscribe") ? this.#changes.restore(uris) : [...uris].length;
  }

  /** Returns how to stop. */
  watch(listener: ChangeListener): () => void {
    return this.#options.inbound.watch(listener);
  }

  /** True where the server says that it tells of changes of these lists. */
  tellsChanges(kind: ListKind): boolean {
    return this.#announces(kind, "listChanged");
  }

  /** What is in flight rejects with `Unavailable`. */
  async close(): Promise<void> {
    this.#closeSubscriptions();
    await this.#options.wire.close(new Error("the gateway closed the connection"));
  }

  #listenForLists(): void {
    const kinds = (["tools", "prompts", "resources"] as const).filter((kind) => this.tellsChanges(kind));
    if (kinds.length === 0) return;
    const { inbound, clock } = this.#options;
    const subscription = openSubscription({
      requests: this.#requests,
      inbound,
      clock,
      filter: () => Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true])),
      onGap: () => kinds.forEach((kind) => inbound.listChanged(kind)),
    });
    void subscription.changed().catch(() => {});
  }

  /** All of them: each client has its own level, which is looked at where its messages go out. */
  #wantLogs(): void {
    if (this.terms.capabilities["logging"] === undefined) return;
    const { log, listMs = 30_000 } = this.#options;
    this.#requests
      .own("logging/setLevel", { level: "debug" }, { timeoutMs: listMs })
      .catch((error: unknown) =>
        log("debug", `${named(this.namespace)} takes no log level: ${String(error)}`),
      );
  }

  #needSubscriptions(): void {
    if (this.#announces("resources", "subscribe")) return;
    throw new ToolError("Unsupported", `${named(this.namespace)} does not tell of changes of its resources.`);
  }

  #announces(capability: ListKind, feature: "listChanged" | "subscribe"): boolean {
    const announced = this.terms.capabilities[capability];
    return isObject(announced) && announced[feature] === true;
  }

  #closeSubscriptions(): void {
    for (const subscription of this.#options.inbound.subscriptions) subscription.close();
  }
}

/** -32602, and -32002 in earlier revisions (specification 2026-07-28, server/resources, Error Handling). */
function unlessUnknown(error: unknown, uri: string): unknown {
  const code = codeOf(error);
  const isUnknown = code === rpcErrors.invalidParams || code === rpcErrors.resourceNotFound;
  return isUnknown ? new ToolError("NotFound", `Resource not found: ${uri}`, { cause: error }) : error;
}

/** Of the server's own error, if that is why. */
function codeOf(error: unknown): number | undefined {
  return error instanceof ToolError && error.cause instanceof RpcError ? error.cause.code : undefined;
}
