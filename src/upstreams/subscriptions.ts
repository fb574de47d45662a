import { Cancellation } from "../core/cancellation.ts";
import type { Log } from "../core/effects.ts";
import { ToolError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { Subscriber } from "../core/provider.ts";
import type { UpstreamConnection } from "../mcp/client/connect.ts";

export interface SubscriptionsOptions {
  readonly namespace: string;
  readonly log: Log;
  /** How many URIs may be subscribed to at once: more than a principal may, who must not take all. Default 100,000. */
  readonly maxUris?: number;
  /** Subscribes at the server, on a connection that is there or comes. */
  begin(uri: string, cancellation: Cancellation): Promise<void>;
  /** Nobody here wants to know any more. */
  end(uri: string): void;
}

/** One URI and who wants to know of it. */
interface Watched {
  readonly subscribers: Set<Subscriber>;
  /** Settles when the server has answered. */
  readonly begun: Promise<void>;
  /** Nobody is left who waits for that. */
  readonly left: Cancellation;
  isBegun: boolean;
}

/** Who wants to know of which resource of one upstream. Outlives its connections. */
export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #byUri = new Map<string, Watched>();

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /** Resolves once changes are told, until the subscriber's cancellation. Rejects with `TooManyRequests` beyond the bound. */
  async subscribe(uri: string, subscriber: Subscriber): Promise<void> {
    const { cancellation } = subscriber;
    if (cancellation.cancelled) return;
    const watched = this.#byUri.get(uri) ?? this.#begin(uri);
    watched.subscribers.add(subscriber);
    const leave = (): void => this.#leave(uri, watched, subscriber);
    const stop = cancellation.onCancel(leave);
    try {
      await watched.begun;
      watched.isBegun = true;
    } catch (error) {
      stop();
      leave();
      throw error;
    }
  }

  /** `params` of `notifications/resources/updated`. A URI that nobody has subscribed to is a part of those that end before it at a `/`. */
  updated(params: JsonObject & { readonly uri: string }): void {
    const { uri } = params;
    const exact = this.#byUri.get(uri);
    if (exact) return tell(exact, params);
    for (const [whole, watched] of this.#byUri) if (isPart(uri, whole)) tell(watched, params);
  }

  /** Updates may have been missed: each subscriber hears of its URI once. */
  missed(): void {
    for (const [uri, watched] of this.#byUri) if (watched.isBegun) tell(watched, { uri });
  }

  /** Subscribes to all on a connection that is new. Never rejects. */
  async restore(connection: UpstreamConnection): Promise<void> {
    const failed = await connection.resubscribe(this.#begun());
    const { namespace, log } = this.#options;
    if (failed > 0)
      log("warning", `Upstream "${namespace}" does not tell of changes of ${failed} resources any more.`);
    this.missed();
  }

  close(): void {
    this.#byUri.clear();
  }

  /** The others are being begun, on this connection or a later one. */
  *#begun(): Generator<string> {
    for (const [uri, { isBegun }] of this.#byUri) if (isBegun) yield uri;
  }

  #begin(uri: string): Watched {
    const { namespace, maxUris = 100_000, begin } = this.#options;
    if (this.#byUri.size >= maxUris)
      throw new ToolError(
        "TooManyRequests",
        `Upstream "${namespace}" has ${maxUris} resources subscribed to. Unsubscribe from some first.`,
      );
    const left = new Cancellation();
    const watched = { subscribers: new Set<Subscriber>(), begun: begin(uri, left), left, isBegun: false };
    this.#byUri.set(uri, watched);
    return watched;
  }

  #leave(uri: string, watched: Watched, subscriber: Subscriber): void {
    watched.subscribers.delete(subscriber);
    if (watched.subscribers.size > 0 || this.#byUri.get(uri) !== watched) return;
    this.#byUri.delete(uri);
    watched.left.cancel("nobody is subscribed any more");
    this.#options.end(uri);
  }
}

function tell({ subscribers }: Watched, params: JsonObject): void {
  for (const subscriber of subscribers) subscriber.updated(params);
}

function isPart(uri: string, whole: string): boolean {
  return uri.startsWith(whole) && (whole.endsWith("/") || uri[whole.length] === "/");
}
