import type { Clock, Log, Timer } from "../../core/effects.ts";
import type { Principal } from "../../core/principal.ts";
import { Session, type Endpoint } from "../../wire/endpoint.ts";
import type { EventStream } from "./eventStream.ts";

export interface SessionLimits {
  /** Sessions of one principal at once; for one more, its longest idle one is ended. Default 1,000. */
  readonly max?: number;
  /** Milliseconds without a request and without an open stream before a session ends. Default 1 hour. */
  readonly idleMs?: number;
}

/** A legacy session over HTTP: one endpoint's and one principal's (specification 2025-11-25, Session Management). */
export class HttpSession {
  readonly endpoint: Endpoint;
  readonly principal: Principal;
  readonly session = new Session((notification) => this.stream?.send(notification));
  /** The client's GET, while it is open. */
  stream: EventStream | undefined;
  /** Messages whose answer is not there yet. */
  active = 0;
  /** By the clock of its `Sessions`. */
  lastUsed = 0;

  constructor(endpoint: Endpoint, principal: Principal) {
    this.endpoint = endpoint;
    this.principal = principal;
  }

  get id(): string {
    return this.session.id;
  }

  get idle(): boolean {
    return this.active === 0 && !this.stream;
  }
}

/** The legacy sessions that are open, by id. */
export class Sessions {
  readonly #open = new Map<string, HttpSession>();
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
  add(session: HttpSession): void {
    const own = [...this.#open.values()].filter(({ principal }) => principal.id === session.principal.id);
    if (own.length >= this.#max) this.#makeRoom(own);
    this.touch(session);
    this.#open.set(session.id, session);
    this.#sweep ??= this.#clock.timer(() => this.#endIdle(), Math.min(this.#idleMs, 60_000));
  }

  /** Another endpoint's or another principal's session is as unknown as one that never was. */
  find(id: string, endpoint: Endpoint, principal: Principal): HttpSession | undefined {
    const session = this.#open.get(id);
    return session?.endpoint === endpoint && session.principal.id === principal.id ? session : undefined;
  }

  touch(session: HttpSession): void {
    session.lastUsed = this.#clock.now();
  }

  end(session: HttpSession): void {
    if (!this.#open.delete(session.id)) return;
    session.stream?.end();
    session.endpoint.closed(session.session);
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

  #makeRoom(open: readonly HttpSession[]): void {
    const idle = open.filter((session) => session.idle);
    const oldest = (idle.length > 0 ? idle : open).reduce((a, b) => (b.lastUsed < a.lastUsed ? b : a));
    this.#log("warning", "An MCP session over HTTP was ended to make room for a new one.", {
      limit: this.#max,
      principal: oldest.principal.id,
    });
    this.end(oldest);
  }
}
