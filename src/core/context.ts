import { Cancellation } from "./cancellation.ts";
import type { ApprovalHandler, LogLevel, SandboxConfig } from "./effects.ts";
import { ToolError } from "./errors.ts";
import type { JsonObject, Meta } from "./json.ts";
import { localPrincipal, type ClientInfo, type Principal } from "./principal.ts";

/** How far a call has come. `progress` must grow from one report to the next; `total` may be unknown. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** A line for the log of the client that made the call. `data` is any JSON value. */
export interface LogEntry {
  readonly level: LogLevel;
  readonly data: unknown;
  readonly logger?: string;
}

/** Something that only the client can answer: a person's choice, a model's words, its roots. */
export interface InputRequest {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list";
  readonly params: JsonObject;
}

/** What a client answers to what an earlier try of the same operation asked (specification 2026-07-28, basic/patterns/mrtr). */
export interface Answers {
  /** By the keys of the questions. */
  readonly responses: JsonObject;
  /** The asker's own, as it gave it. */
  readonly requestState?: string;
}

export interface ToolContextInit {
  /** The agent that calls; "" where the door does not know one. */
  readonly agentId?: string;
  /** The conversation that the call belongs to; "" where the door does not know one. */
  readonly sessionKey?: string;
  /** Absolute. Tools that touch files stay inside. */
  readonly workspacePath?: string;
  readonly sandbox?: SandboxConfig;
  readonly approvals?: ApprovalHandler;
  readonly metadata?: JsonObject;
  readonly principal?: Principal;
  readonly client?: ClientInfo;
  /** MCP's `ClientCapabilities`: what may be asked of the client. */
  readonly clientCapabilities?: JsonObject;
  /** Of this operation alone: `undefined` takes away those of the base. */
  readonly answers?: Answers | undefined;
  /** What the client attached to its request, without the protocol's own keys: it travels on to upstreams. */
  readonly meta?: Meta;
  /** The least severe level that the client wants; absent where it wants no logs. */
  readonly logLevel?: LogLevel;
  readonly cancellation?: Cancellation;
  readonly onProgress?: (progress: Progress) => void;
  readonly onLog?: (entry: LogEntry) => void;
  readonly onAsk?: (request: InputRequest) => Promise<JsonObject>;
  readonly onCloseStream?: () => void;
}

/** All that a call knows of who makes it and where. Immutable: the `with...` methods return copies. */
export class ToolContext {
  readonly #init: ToolContextInit;
  readonly #base: ToolContext | undefined;
  readonly cancellation: Cancellation;

  /** What `init` leaves out comes from `base`, which costs less than a copy of it: each call makes several contexts. */
  constructor(init: ToolContextInit = {}, base?: ToolContext) {
    this.#init = init;
    this.#base = base;
    this.cancellation = init.cancellation ?? base?.cancellation ?? new Cancellation();
  }

  get agentId(): string {
    return this.#init.agentId ?? this.#base?.agentId ?? "";
  }

  get sessionKey(): string {
    return this.#init.sessionKey ?? this.#base?.sessionKey ?? "";
  }

  get workspacePath(): string | undefined {
    return this.#init.workspacePath ?? this.#base?.workspacePath;
  }

  get sandbox(): SandboxConfig | undefined {
    return this.#init.sandbox ?? this.#base?.sandbox;
  }

  get approvals(): ApprovalHandler | undefined {
    return this.#init.approvals ?? this.#base?.approvals;
  }

  get metadata(): Readonly<JsonObject> {
    return this.#init.metadata ?? this.#base?.metadata ?? {};
  }

  get principal(): Principal {
    return this.#init.principal ?? this.#base?.principal ?? localPrincipal;
  }

  get client(): ClientInfo | undefined {
    return this.#init.client ?? this.#base?.client;
  }

  /** Empty where the client, or the door, can answer nothing. */
  get clientCapabilities(): Readonly<JsonObject> {
    return this.#init.clientCapabilities ?? this.#base?.clientCapabilities ?? {};
  }

  /** Present where the client tries again with answers. */
  get answers(): Answers | undefined {
    return "answers" in this.#init ? this.#init.answers : this.#base?.answers;
  }

  get meta(): Readonly<Meta> {
    return this.#init.meta ?? this.#base?.meta ?? {};
  }

  get logLevel(): LogLevel | undefined {
    return this.#init.logLevel ?? this.#base?.logLevel;
  }

  /** Aborted when the caller cancels, goes away, or the call's time is up. */
  get signal(): AbortSignal {
    return this.cancellation.signal;
  }

  /** Reports progress to the client, if it asked for any. */
  progress(progress: Progress): void {
    const { onProgress } = this.#init;
    if (onProgress) onProgress(progress);
    else this.#base?.progress(progress);
  }

  /** Writes to the client's log, if it wants one at this level. */
  log(level: LogLevel, data: unknown, logger?: string): void {
    const { onLog } = this.#init;
    if (onLog) onLog(logger === undefined ? { level, data } : { level, data, logger });
    else this.#base?.log(level, data, logger);
  }

  /** Asks the client. Rejects with `ToolError` `Unsupported` where the door has no way to ask. */
  ask(request: InputRequest): Promise<JsonObject> {
    const { onAsk } = this.#init;
    if (onAsk) return onAsk(request);
    if (this.#base) return this.#base.ask(request);
    return Promise.reject(
      new ToolError("Unsupported", `This door cannot ask the client for ${request.method}.`),
    );
  }

  /**
   * Lets go of the client's connection while the call goes on: a client that can (revision 2025-11-25 over HTTP)
   * comes back for the answer. Elsewhere it does nothing.
   */
  closeStream(): void {
    const { onCloseStream } = this.#init;
    if (onCloseStream) onCloseStream();
    else this.#base?.closeStream();
  }

  with(changes: ToolContextInit): ToolContext {
    return new ToolContext(changes, this);
  }

  withWorkspacePath(workspacePath: string): ToolContext {
    return this.with({ workspacePath });
  }

  withSandbox(sandbox: SandboxConfig): ToolContext {
    return this.with({ sandbox });
  }

  withApprovals(approvals: ApprovalHandler): ToolContext {
    return this.with({ approvals });
  }

  /** Adds to the metadata; equal keys are replaced. */
  withMetadata(metadata: JsonObject): ToolContext {
    return this.with({ metadata: { ...this.metadata, ...metadata } });
  }
}
