import type { Cancellation } from "../core/cancellation.ts";
import type { ToolContext } from "../core/context.ts";
import { ToolError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { ListKind, ToolFacts, ToolProvider } from "../core/provider.ts";
import type { ToolResult } from "../core/result.ts";
import type { ToolDefinition } from "../core/tool.ts";
import { connectUpstream, SessionLost, upstreamFacts } from "../mcp/client/connect.ts";
import type { ConnectOptions, EraCache, UpstreamConnection } from "../mcp/client/connect.ts";
import { Rereader } from "./rereader.ts";
import { Supervisor, type UpstreamState } from "./supervisor.ts";

export interface UpstreamOptions extends Omit<ConnectOptions, "cancellation" | "eraCache"> {
  /** How long after `start` a first list is waited for, in milliseconds. Default 5,000. */
  readonly graceMs?: number;
  /** From 0 to 1, as `Math.random`, which is the default. */
  readonly random?: () => number;
  onStatus?(status: UpstreamStatus): void;
}

export interface UpstreamStatus {
  readonly namespace: string;
  readonly state: UpstreamState;
  /** When the state began, in the clock's milliseconds. */
  readonly since: number;
  /** Tries to connect, after the first. */
  readonly restarts: number;
  /** Of the connection, while there is one. */
  readonly era?: "legacy" | "modern";
  readonly protocolVersion?: string;
  /** How many tools the last good list has. */
  readonly tools?: number;
  /** Why it is not ready, for a person. */
  readonly error?: string;
}

/**
 * One MCP server as a provider that is always there: supervised, with its last good list while it is away.
 * Whatever the server does concerns this upstream only.
 */
export class Upstream implements ToolProvider {
  readonly namespace: string;
  readonly #options: UpstreamOptions;
  readonly #facts: ToolFacts;
  readonly #supervisor: Supervisor;
  readonly #rereader: Rereader;
  readonly #eraCache: EraCache = {};
  readonly #listeners = new Set<(kind: ListKind) => void>();
  #tools: readonly ToolDefinition[] | undefined;
  #names: ReadonlySet<string> = new Set();
  #started: Promise<void> | undefined;
  /** The end of the first try, or of the grace. */
  #grace: Promise<void> | undefined;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.namespace = options.namespace;
    this.#facts = upstreamFacts(options);
    this.#rereader = new Rereader(options.clock, () => this.#reread());
    this.#supervisor = new Supervisor({
      ...options,
      open: (cancellation) => this.#open(cancellation),
      onChange: () => options.onStatus?.(this.status),
    });
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
    return {
      namespace: this.namespace,
      state,
      since,
      restarts,
      ...(ready && { era: ready.terms.era, protocolVersion: ready.terms.protocolVersion }),
      ...(this.#tools && { tools: this.#tools.length }),
      ...(error !== undefined && { error }),
    };
  }

  async listTools(): Promise<readonly ToolDefinition[]> {
    if (!this.#tools) await this.#grace;
    if (this.#tools && this.#supervisor.state !== "closed") return this.#tools;
    throw this.#supervisor.unavailable();
  }

  async callTool(name: string, args: JsonObject, ctx: ToolContext): Promise<ToolResult> {
    const connection = this.#supervisor.ready ?? (await this.#connected(ctx));
    if (!this.#names.has(name)) throw ToolError.notFound(name);
    try {
      return await connection.callTool(name, args, ctx);
    } catch (error) {
      // The one failure of which it is certain that nothing has run: a second try is no second run.
      if (!(error instanceof SessionLost)) throw error;
    }
    this.#supervisor.renew(connection);
    const fresh = await this.#connected(ctx);
    return await fresh.callTool(name, args, ctx).catch((error: unknown) => {
      if (!(error instanceof SessionLost)) throw error;
      throw new ToolError(
        "Unavailable",
        `Upstream "${this.namespace}" keeps losing its session: ${error.message}`,
      );
    });
  }

  facts(): ToolFacts {
    return this.#facts;
  }

  watch(listener: (kind: ListKind) => void): () => void {
    const own = (kind: ListKind): void => listener(kind);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  async close(): Promise<void> {
    this.#rereader.close();
    await this.#supervisor.close();
  }

  /** A connection is ready when its tools are known. */
  async #open(cancellation: Cancellation): Promise<UpstreamConnection> {
    const connection = await connectUpstream({
      ...this.#options,
      eraCache: this.#eraCache,
      cancellation,
    });
    const stop = cancellation.onCancel(() => void connection.close());
    connection.watch(() => this.#rereader.changed());
    try {
      const tools = await connection.listTools();
      this.#publish(tools);
      const { protocolVersion } = connection.terms;
      this.#options.log("info", this.#say(`is ready: ${tools.length} tools, MCP ${protocolVersion}.`));
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    } finally {
      stop();
    }
  }

  /** Waits for a connection, but not for a caller that has gone. */
  #connected({ cancellation }: ToolContext): Promise<UpstreamConnection> {
    return new Promise((resolve, reject) => {
      const stop = cancellation.onCancel(() =>
        reject(new ToolError("Cancelled", `Cancelled while upstream "${this.namespace}" was starting.`)),
      );
      this.#supervisor.connected().then(resolve, reject).finally(stop);
    });
  }

  async #reread(): Promise<void> {
    let connection: UpstreamConnection | undefined;
    try {
      connection = await this.#supervisor.connected();
      const tools = await connection.listTools();
      if (this.#supervisor.ready === connection) this.#publish(tools);
    } catch (error) {
      if (this.#supervisor.state === "closed") return;
      if (connection && error instanceof SessionLost) return this.#supervisor.renew(connection);
      this.#options.log(
        "warning",
        this.#say(`has changed its tools, but the last good list stays: ${String(error)}`),
      );
    }
  }

  #publish(tools: readonly ToolDefinition[]): void {
    const same = this.#tools && JSON.stringify(this.#tools) === JSON.stringify(tools);
    if (same) return;
    this.#tools = tools;
    this.#names = new Set(tools.map((tool) => tool.name));
    for (const listener of this.#listeners) listener("tools");
  }

  #say(what: string): string {
    return `Upstream "${this.namespace}" ${what}`;
  }
}
