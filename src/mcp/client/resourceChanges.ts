import type { Clock } from "../../core/effects.ts";
import { ToolError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Inbound } from "./inbound.ts";
import { openSubscription } from "./openSubscription.ts";
import type { Requests } from "./requests.ts";
import type { Subscription } from "./subscription.ts";

/** For the answer to `resources/subscribe`, in milliseconds. */
const patienceMs = 30_000;

/** Which resources' changes a server is to tell on one connection. */
export interface ResourceChanges {
  /** Resolves once changes of that URI are told. Whoever began must `end` it, also after a rejection. */
  begin(uri: string): Promise<void>;
  end(uri: string): void;
  /** Begins many on a connection that is new. Never rejects: resolves with how many could not be begun. */
  restore(uris: Iterable<string>): Promise<number>;
}

/** One `resources/subscribe` a URI (specification 2025-11-25, server/resources, Subscriptions). */
export class LegacyResourceChanges implements ResourceChanges {
  readonly #requests: Requests;
  readonly #told = new Set<string>();
  /** What was last done about a URI, for the next to wait for: over HTTP one could overtake the other. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  begin(uri: string): Promise<void> {
    return this.#next(uri, async () => {
      if (this.#told.has(uri)) return;
      await this.#requests.own("resources/subscribe", { uri }, { timeoutMs: patienceMs });
      this.#told.add(uri);
    });
  }

  end(uri: string): void {
    const unsubscribe = async (): Promise<void> => {
      if (!this.#told.delete(uri)) return;
      await this.#requests.own("resources/unsubscribe", { uri }, { timeoutMs: patienceMs });
    };
    // A server that goes on telling is not heard.
    this.#next(uri, unsubscribe).catch(() => {});
  }

  async restore(uris: Iterable<string>): Promise<number> {
    let failed = 0;
    // The next one is taken when its turn comes: what was ended meanwhile is not begun.
    for (const uri of uris) await this.begin(uri).catch(() => (failed += 1));
    return failed;
  }

  #next(uri: string, run: () => Promise<void>): Promise<void> {
    const before = this.#last.get(uri) ?? Promise.resolve();
    const next = before.then(run, run).finally(() => {
      if (this.#last.get(uri) === next) this.#last.delete(uri);
    });
    this.#last.set(uri, next);
    return next;
  }
}

/** One subscription for all URIs (specification 2026-07-28, basic/patterns/subscriptions). */
export class ModernResourceChanges implements ResourceChanges {
  readonly #uris = new Set<string>();
  readonly #subscription: Subscription;
  #lastAnswer: JsonObject | undefined;
  #honoured: ReadonlySet<unknown> = new Set();

  constructor(requests: Requests, { inbound, clock }: { inbound: Inbound; clock: Clock }) {
    this.#subscription = openSubscription({
      requests,
      inbound,
      clock,
      filter: () => (this.#uris.size > 0 ? { resourceSubscriptions: [...this.#uris] } : undefined),
      onGap: () => inbound.updatesMissed(),
    });
  }

  async begin(uri: string): Promise<void> {
    this.#uris.add(uri);
    if (!this.#honouredIn(await this.#subscription.changed()).has(uri))
      throw new ToolError("Unsupported", `Changes of ${uri} are not told by its server.`);
  }

  /** One answer is looked through once, however many wait for it. */
  #honouredIn(notifications: JsonObject): ReadonlySet<unknown> {
    if (notifications !== this.#lastAnswer) {
      const { resourceSubscriptions: uris } = notifications;
      this.#lastAnswer = notifications;
      this.#honoured = new Set(Array.isArray(uris) ? uris : []);
    }
    return this.#honoured;
  }

  end(uri: string): void {
    if (this.#uris.delete(uri)) void this.#subscription.changed().catch(() => {});
  }

  async restore(uris: Iterable<string>): Promise<number> {
    for (const uri of uris) this.#uris.add(uri);
    if (this.#uris.size === 0) return 0;
    return this.#subscription.changed().then(
      () => 0,
      () => this.#uris.size,
    );
  }
}
