import type { Clock, Log, Timer } from "../../core/effects.ts";
import type { Principal } from "../../core/principal.ts";
import { Session, type Endpoint } from "../../wire/endpoint.ts";
import { legacyVersions } from "../../wire/protocol.ts";
import type { EventStream } from "./eventStream.ts";
import { ReplayLog, type ReplayBudget } from "./replay.ts";
import type { ResumableStream } from "./resumable.ts";

export interface SessionLimits {
  /** Sessions of one principal at once; for one more, its longest idle one is ended. Default 1,000. */
  readonly max?: number;
  /** Milliseconds without a request and without an open stream before a session ends. Default 1 hour. */
  readonly idleMs?: number;
}

/** One endpoint's and one principal's. */
export interface OpenSession {
  readonly endpoint: Endpoint;
  readonly principal: Principal;
  readonly session: Session;
  /** Nothing runs in it and its client is not connected. */
  readonly idle: boolean;
  /** By the clock of its `Sessions`. */
  lastUsed: number;
  /** Ends what is open to its client. */
  end(): void;
}

/** A legacy session over Streamable HTTP (specification 2025-11-25, Session Management). */
export class HttpSession implements OpenSession {
  readonly endpoint: Endpoint;
  readonly principal: Principal;
  readonly log: ReplayLog;
  readonly session = new Session((message) => this.log.standalone.send(message));
  /** Messages whose answer is not there yet. */
  active = 0;
  lastUsed = 0;

  constructor(endpoint: Endpoint, principal: Principal, budget: ReplayBudget) {
    this.endpoint = endpoint;
    this.principal = principal;
    this.log = new ReplayLog(budget);
  }

  get idle(): boolean {
    return this.active === 0 && !this.log.standalone.isConnected;
  }

  /**
   * Its client takes an event without data at the start of a stream, and may be sent away before the reply: both
   * came with 2025-11-25. In earlier revisions every event is a message, and streams stay open until the reply.
   */
  get polls(): boolean {
    return (this.session.legacy?.protocolVersion ?? "") >= legacyVersions[0];
  }

  /** `out` becomes the first connection of a stream for one request. */
  openStream(out: EventStream): ResumableStream {
    const stream = this.log.open();
    stream.connect(out, this.polls);
    return stream;
  }

  end(): void {
    this.log.close();
  }
}

/** The legacy sessions of one kind that are open, by id. */
export class Sessions<S extends OpenSession = HttpSession> {
  readonly #open = new Map<string, S>();
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #max: number;
  readonly #idleMs: number;
  #sweep: Timer | undefined;

  constructor(effects: { clock: Clock; log: Log }, limits: SessionLimits = {}) {
    this.#clock = effects.clock;
    this.#log = effects.log;
    this.#max = limits.max ?? 1000;
    this.#idleMs = limits.idleMs ?? 3_600_000;
  }

  /** From now on `find` knows it. Another one may have to go. */
  add(opened: S): void {
    const own = [...this.#open.values()].filter(({ principal }) => principal.id === opened.principal.id);
    if (own.length >= this.#max) this.#makeRoom(own);
    this.touch(opened);
    this.#open.set(opened.session.id, opened);
    this.#sweep ??= this.#clock.timer(() => this.#endIdle(), Math.min(this.#idleMs, 60_000));
  }

  /** Another endpoint's or another principal's session is as unknown as one that never was. */
  find(id: string, endpoint: Endpoint, principal: Principal): S | undefined {
    const found = this.#open.get(id);
    return found?.endpoint === endpoint && found.principal.id === principal.id ? found : undefined;
  }

  touch(used: S): void {
    used.lastUsed = this.#clock.now();
  }

  end(ended: S): void {
    if (!this.#open.delete(ended.session.id)) return;
    ended.end();
    ended.endpoint.closed(ended.session);
  }

  /** Ends them all. */
  close(): void {
    this.#sweep?.stop();
    for (const session of this.#open.values()) this.end(session);
  }

  #endIdle(): void {
    const latest = this.#clock.now() - this.#idleMs;
    for (const session of this.#open.values()) {
      if (session.idle && session.lastUsed <= latest) this.end(session);
    }
    this.#sweep?.restart();
  }

  #makeRoom(open: readonly S[]): void {
    const idle = open.filter((session) => session.idle);
    const oldest = (idle.length > 0 ? idle : open).reduce((a, b) => (b.lastUsed < a.lastUsed ? b : a));
    this.#log("warning", "An MCP session over HTTP was ended to make room for a new one.", {
      limit: this.#max,
      principal: oldest.principal.id,
    });
    this.end(oldest);
  }
}
