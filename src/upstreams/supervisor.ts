import { backoffMs } from "../core/backoff.ts";
import { Cancellation } from "../core/cancellation.ts";
import type { Clock, Log, Timer } from "../core/effects.ts";
import { ToolError } from "../core/errors.ts";
import type { UpstreamConnection } from "../mcp/client/connect.ts";

export type UpstreamState = "starting" | "ready" | "failed" | "closed";

export interface SupervisorOptions {
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to 1, as `Math.random`, which is the default. */
  readonly random?: () => number;
  /** Opens a connection that is ready for calls, and leaves nothing behind if it rejects. */
  open(cancellation: Cancellation): Promise<UpstreamConnection>;
  /** The state has changed. */
  onChange(): void;
}

/** A connection that was ready for this long has not failed at once: the pauses begin anew, in milliseconds. */
const stableMs = 60_000;
/** The shortest pause between two tries, in milliseconds. */
const floorMs = 1_000;

/** Keeps one connection open: what fails or ends is opened again, after pauses that grow from 1 s to 60 s. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #ending = new Cancellation();
  #state: UpstreamState = "starting";
  #since: number;
  #error: string | undefined;
  #connection: UpstreamConnection | undefined;
  /** The try that is under way. Never rejects. */
  #attempt: Promise<void> | undefined;
  #retry: Timer | undefined;
  #tries = 0;
  #failures = 0;
  #lastTry = 0;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#since = options.clock.now();
  }

  get state(): UpstreamState {
    return this.#state;
  }

  /** When the state began. */
  get since(): number {
    return this.#since;
  }

  /** Why it is not ready. */
  get error(): string | undefined {
    return this.#error;
  }

  get restarts(): number {
    return Math.max(0, this.#tries - 1);
  }

  get ready(): UpstreamConnection | undefined {
    return this.#connection;
  }

  /** Tries now, unless a try is under way. Resolves when it has ended, well or not. */
  connect(): Promise<void> {
    if (this.#state === "closed") return Promise.resolve();
    return (this.#attempt ??= this.#try());
  }

  /** Waits for the try that is under way; makes one if the last is over for long enough. Rejects with `Unavailable`. */
  async connected(): Promise<UpstreamConnection> {
    const { clock } = this.#options;
    if (this.#state === "failed" && clock.now() - this.#lastTry >= floorMs) void this.connect();
    await this.#attempt;
    if (this.#connection) return this.#connection;
    throw this.unavailable();
  }

  /** This connection is of no use, and its server is there: another is opened at once. Safe to call by each who notices. */
  renew(connection: UpstreamConnection): void {
    if (this.#connection !== connection) return;
    this.#drop(connection);
    void this.connect();
  }

  unavailable(): ToolError {
    if (this.#state === "closed") return new ToolError("Unavailable", this.#say("is closed."));
    return new ToolError(
      "Unavailable",
      this.#error ?? this.#say("is still starting. Try again in a moment."),
    );
  }

  /** Ends the connection, or the try to open one. */
  async close(): Promise<void> {
    if (this.#state === "closed") return;
    const connection = this.#connection;
    this.#connection = undefined;
    this.#retry?.stop();
    this.#enter("closed");
    this.#ending.cancel(new Error("the gateway closes"));
    await connection?.close();
    await this.#attempt;
  }

  async #try(): Promise<void> {
    const { clock, open } = this.#options;
    this.#retry?.stop();
    this.#tries += 1;
    this.#lastTry = clock.now();
    this.#enter("starting");
    const opened = await open(this.#ending).catch(asError);
    this.#attempt = undefined;
    if (opened instanceof Error) this.#fail(opened.message);
    else this.#adopt(opened);
  }

  #adopt(connection: UpstreamConnection): void {
    if (this.#state === "closed") return this.#drop(connection);
    this.#connection = connection;
    this.#error = undefined;
    this.#enter("ready");
    void connection.gone.then((reason) => {
      if (this.#connection !== connection) return;
      if (this.#options.clock.now() - this.#since >= stableMs) this.#failures = 0;
      this.#drop(connection);
      this.#fail(this.#say(`went away: ${reason.message}`));
    });
  }

  #fail(reason: string): void {
    if (this.#state === "closed") return;
    const { clock, log, random } = this.#options;
    this.#failures += 1;
    const pause = backoffMs(this.#failures, { floorMs, ...(random && { random }) });
    const isNews = this.#error !== reason;
    this.#error = reason;
    this.#retry = clock.timer(() => void this.connect(), pause);
    this.#enter("failed");
    log(isNews ? "info" : "debug", `${reason} (next try in ${Math.round(pause / 1_000)} s)`);
  }

  #drop(connection: UpstreamConnection): void {
    this.#connection = undefined;
    connection.close().catch((error: unknown) => {
      this.#options.log("warning", this.#say(`did not close properly: ${String(error)}`));
    });
  }

  #enter(state: UpstreamState): void {
    this.#state = state;
    this.#since = this.#options.clock.now();
    this.#options.onChange();
  }

  #say(what: string): string {
    return `Upstream "${this.#options.namespace}" ${what}`;
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
