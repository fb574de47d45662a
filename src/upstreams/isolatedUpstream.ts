import type { ToolContext } from "../core/context.ts";
import type { Timer } from "../core/effects.ts";
import { ToolError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type {
  CompletionRequest,
  ListKind,
  PromptProvider,
  ProviderInfo,
  ResourceProvider,
  TaskProvider,
  Subscriber,
  ToolFacts,
  ToolProvider,
} from "../core/provider.ts";
import type { OperationResult } from "../core/result.ts";
import type { ToolDefinition } from "../core/tool.ts";
import { Upstream, type UpstreamOptions, type UpstreamStatus } from "./upstream.ts";

export interface IsolatedUpstreamOptions extends UpstreamOptions {
  /** How many principals may have a connection at once. Default 100. */
  readonly maxPrincipals?: number;
  /** A principal's connection that nobody uses is closed after this, in milliseconds. Default 600,000. */
  readonly idleMs?: number;
}

/** One principal's connection. */
interface Own {
  readonly upstream: Upstream;
  readonly idle: Timer;
  /** Requests in flight and subscriptions. */
  uses: number;
}

/**
 * One MCP server with a connection (of stdio a process) for each principal: what the server keeps in its session, and
 * asks or tells in it, stays with one principal. What there is comes from one more connection, which all share.
 */
export class IsolatedUpstream implements ToolProvider {
  readonly namespace: string;
  readonly resources: ResourceProvider;
  readonly prompts: PromptProvider;
  readonly tasks: TaskProvider;
  readonly #options: IsolatedUpstreamOptions;
  readonly #shared: Upstream;
  readonly #byPrincipal = new Map<string, Own>();
  #closed = false;

  constructor(options: IsolatedUpstreamOptions) {
    const shared = new Upstream(options);
    this.#options = options;
    this.#shared = shared;
    this.namespace = options.namespace;
    this.resources = {
      listResources: () => shared.resources.listResources(),
      listResourceTemplates: () => shared.resources.listResourceTemplates(),
      readResource: (uri, ctx) => this.#use(ctx, ({ resources }) => resources.readResource(uri, ctx)),
      subscribe: (uri, subscriber, ctx) => this.#subscribe(uri, subscriber, ctx),
    };
    this.prompts = {
      listPrompts: () => shared.prompts.listPrompts(),
      getPrompt: (name, args, ctx) => this.#use(ctx, ({ prompts }) => prompts.getPrompt(name, args, ctx)),
    };
    this.tasks = {
      request: (method, params, ctx) => this.#use(ctx, ({ tasks }) => tasks.request(method, params, ctx)),
    };
  }

  /** Begins to connect the one that all share; a principal's own is begun with its first request. */
  start(): void {
    this.#shared.start();
  }

  /** Resolves when the first try to connect the shared one has ended, well or not. Never rejects. */
  settled(): Promise<void> {
    return this.#shared.settled();
  }

  /** Of the connection that all share. */
  get status(): UpstreamStatus {
    return this.#shared.status;
  }

  listTools(): Promise<readonly ToolDefinition[]> {
    return this.#shared.listTools();
  }

  /** Rejects with `TooManyRequests` where too many other principals have a connection. */
  callTool(name: string, args: JsonObject, ctx: ToolContext): Promise<OperationResult> {
    return this.#use(ctx, (upstream) => upstream.callTool(name, args, ctx));
  }

  complete(request: CompletionRequest, ctx: ToolContext): Promise<JsonObject> {
    return this.#use(ctx, (upstream) => upstream.complete(request, ctx));
  }

  info(): Promise<ProviderInfo> {
    return this.#shared.info();
  }

  touch(kind: ListKind): void {
    this.#shared.touch(kind);
  }

  facts(): ToolFacts {
    return this.#shared.facts();
  }

  watch(listener: (kind: ListKind) => void): () => void {
    return this.#shared.watch(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const all = [...this.#byPrincipal.values()];
    this.#byPrincipal.clear();
    for (const { idle } of all) idle.stop();
    await Promise.all([this.#shared.close(), ...all.map(({ upstream }) => upstream.close())]);
  }

  async #use<T>(ctx: ToolContext, run: (upstream: Upstream) => Promise<T>): Promise<T> {
    if (this.#closed) return run(this.#shared);
    const own = this.#ownOf(ctx);
    this.#begin(own);
    try {
      return await run(own.upstream);
    } finally {
      this.#end(own);
    }
  }

  /** The subscription itself is a use: the connection stays as long as it does. */
  async #subscribe(uri: string, subscriber: Subscriber, ctx: ToolContext): Promise<void> {
    await this.#use(ctx, async ({ resources }) => {
      await resources.subscribe?.(uri, subscriber, ctx);
      const own = this.#byPrincipal.get(ctx.principal.id);
      if (!own) return;
      this.#begin(own);
      subscriber.cancellation.onCancel(() => this.#end(own));
    });
  }

  #ownOf({ principal }: ToolContext): Own {
    const known = this.#byPrincipal.get(principal.id);
    if (known) return known;
    const { clock, maxPrincipals = 100, idleMs = 600_000 } = this.#options;
    if (this.#byPrincipal.size >= maxPrincipals)
      throw new ToolError(
        "TooManyRequests",
        `Upstream "${this.namespace}" has a connection for each of ${maxPrincipals} principals, and no more are opened. Try again later.`,
      );
    const upstream = this.#open(principal.id);
    const idle = clock.timer(() => {
      this.#byPrincipal.delete(principal.id);
      void upstream.close();
    }, idleMs);
    const own = { upstream, idle, uses: 0 };
    this.#byPrincipal.set(principal.id, own);
    return own;
  }

  /** Its state is nobody's business but its principal's. */
  #open(principal: string): Upstream {
    const { onStatus: _, log, ...options } = this.#options;
    const upstream = new Upstream({
      ...options,
      log: (level, message, fields) => log(level, message, { ...fields, principal }),
    });
    upstream.start();
    return upstream;
  }

  #begin(own: Own): void {
    own.uses += 1;
    own.idle.stop();
  }

  #end(own: Own): void {
    own.uses -= 1;
    if (own.uses === 0 && !this.#closed) own.idle.restart();
  }
}
