import type { Cancellation } from "../core/cancellation.ts";
import type { ToolContext } from "../core/context.ts";
import { ToolError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type {
  CompletionRequest,
  ListKind,
  PromptProvider,
  ProviderInfo,
  ResourceProvider,
  TaskProvider,
  ToolFacts,
  ToolProvider,
} from "../core/provider.ts";
import type { OperationResult } from "../core/result.ts";
import type { ToolDefinition } from "../core/tool.ts";
import { connectUpstream, type ListName } from "../mcp/client/connect.ts";
import type { EraCache, UpstreamConnection } from "../mcp/client/connect.ts";
import { onConnection } from "./onConnection.ts";
import { Subscriptions } from "./subscriptions.ts";
import { Supervisor } from "./supervisor.ts";
import type { UpstreamOptions, UpstreamStatus } from "./types.ts";
import { UpstreamLists } from "./upstreamLists.ts";

export type { UpstreamOptions, UpstreamStatus } from "./types.ts";

/**
 * One MCP server as a provider that is always there: supervised, with its last good lists while it is away.
 * Whatever the server does concerns this upstream only.
 */
export class Upstream implements ToolProvider {
  readonly namespace: string;
  readonly resources: ResourceProvider;
  readonly prompts: PromptProvider;
  readonly tasks: TaskProvider;
  readonly #options: UpstreamOptions;
  readonly #facts: ToolFacts;
  readonly #supervisor: Supervisor;
  readonly #lists: UpstreamLists;
  readonly #subscriptions: Subscriptions;
  readonly #eraCache: EraCache = {};
  /** What the server said of itself when it was last connected. */
  #info: ProviderInfo | undefined;
  #started: Promise<void> | undefined;
  /** The end of the first try, or of the grace. */
  #grace: Promise<void> | undefined;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.namespace = options.namespace;
    this.#facts = factsOf(options);
    this.#supervisor = new Supervisor({
      ...options,
      open: (cancellation) => this.#open(cancellation),
      onChange: () => options.onStatus?.(this.status),
    });
    this.#lists = new UpstreamLists({ ...options, supervisor: this.#supervisor });
    this.#subscriptions = new Subscriptions({
      ...options,
      begin: (uri, cancellation) =>
        this.#onConnection(cancellation, (connection) => connection.subscribe(uri)),
      end: (uri) => this.#supervisor.ready?.unsubscribe(uri),
    });
    this.resources = {
      listResources: () => this.#list("resources"),
      listResourceTemplates: () => this.#list("resourceTemplates"),
      readResource: (uri, ctx) =>
        this.#onConnection(ctx.cancellation, (connection) => connection.readResource(uri, ctx)),
      subscribe: (uri, subscriber) => this.#subscriptions.subscribe(uri, subscriber),
    };
    this.prompts = {
      listPrompts: () => this.#list("prompts"),
      getPrompt: (name, args, ctx) =>
        this.#onConnection(ctx.cancellation, (connection) => {
          if (!this.#lists.has("prompts", name)) throw new ToolError("NotFound", `Unknown prompt: ${name}`);
          return connection.getPrompt(name, args, ctx);
        }),
    };
    this.tasks = {
      request: (method, params, ctx) =>
        this.#onConnection(ctx.cancellation, (connection) => connection.task(method, params, ctx)),
    };
  }

  /** Begins to connect; `settled` tells when the first try has ended. */
  start(): void {
    if (this.#started) return;
    const { clock, graceMs = 5_000 } = this.#options;
    const started = this.#supervisor.connect();
    this.#started = started;
    this.#grace = new Promise((resolve) => {
      const timer = clock.timer(resolve, graceMs);
      void started.then(() => {
        timer.stop();
        resolve();
      });
    });
  }

  /** Resolves when the first try to connect has ended, well or not. Never rejects. */
  async settled(): Promise<void> {
    await this.#started;
  }

  get status(): UpstreamStatus {
    const { state, since, restarts, error, ready } = this.#supervisor;
    const tools = this.#lists.get("tools");
    return {
      namespace: this.namespace,
      state,
      since,
      restarts,
      ...(ready && { era: ready.terms.era, protocolVersion: ready.terms.protocolVersion }),
      ...(tools && { tools: tools.length }),
      ...(error !== undefined && { error }),
    };
  }

  async listTools(): Promise<readonly ToolDefinition[]> {
    return (await this.#list("tools")) as readonly ToolDefinition[];
  }

  callTool(name: string, args: JsonObject, ctx: ToolContext): Promise<OperationResult> {
    return this.#onConnection(ctx.cancellation, (connection) => {
      if (!this.#lists.has("tools", name)) throw ToolError.notFound(name);
      return connection.callTool(name, args, ctx);
    });
  }

  complete(request: CompletionRequest, ctx: ToolContext): Promise<JsonObject> {
    return this.#onConnection(ctx.cancellation, (connection) => connection.complete(request, ctx));
  }

  /** Of a server that has never been reached nothing is known to work. */
  async info(): Promise<ProviderInfo> {
    if (!this.#info) await this.#grace;
    return this.#info ?? { capabilities: {} };
  }

  touch(kind: ListKind): void {
    this.#lists.refresh(kind);
  }

  facts(): ToolFacts {
    return this.#facts;
  }

  watch(listener: (kind: ListKind) => void): () => void {
    return this.#lists.watch(listener);
  }

  async close(): Promise<void> {
    this.#lists.close();
    this.#subscriptions.close();
    await this.#supervisor.close();
  }

  /** A connection is ready when its lists are known. */
  async #open(cancellation: Cancellation): Promise<UpstreamConnection> {
    const connection = await connectUpstream({
      ...this.#options,
      eraCache: this.#eraCache,
      cancellation,
    });
    const stop = cancellation.onCancel(() => void connection.close());
    connection.watch({
      listChanged: (kind) => this.#lists.changed(kind),
      resourceUpdated: (params) => this.#subscriptions.updated(params),
      updatesMissed: () => this.#subscriptions.missed(),
    });
    try {
      await this.#lists.read(connection);
      this.#info = connection.info;
      void this.#subscriptions.restore(connection);
      const { protocolVersion } = connection.terms;
      const tools = this.#lists.get("tools")?.length ?? 0;
      this.#options.log("info", this.#say(`is ready: ${tools} tools, MCP ${protocolVersion}.`));
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    } finally {
      stop();
    }
  }

  /** The last good list. One that is not known is waited for as long as the grace lasts. */
  async #list(name: ListName): Promise<readonly JsonObject[]> {
    if (!this.#lists.get(name)) await this.#grace;
    const list = this.#lists.get(name);
    if (list && this.#supervisor.state !== "closed") return list;
    throw this.#supervisor.unavailable();
  }

  #onConnection<T>(
    cancellation: Cancellation,
    run: (connection: UpstreamConnection) => Promise<T>,
  ): Promise<T> {
    return onConnection(this.#supervisor, cancellation, run);
  }

  #say(what: string): string {
    return `Upstream "${this.namespace}" ${what}`;
  }
}

function factsOf({ validateArguments, timeoutMs }: UpstreamOptions): ToolFacts {
  return {
    validation: validateArguments ? "upstream-checked" : "upstream",
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}
