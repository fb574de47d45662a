import { Bag, type BagMember } from "../../core/bag.ts";
import type { ToolContext } from "../../core/context.ts";
import { logLevels, type Log, type LogLevel } from "../../core/effects.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Incoming, JsonRpcNotification } from "../../wire/jsonrpc.ts";

/** The longest upstream log line that goes into the gateway's own log, in characters. */
const maxLogged = 1_000;

interface RunningCall extends BagMember {
  readonly ctx: ToolContext;
}

/** What a server sends of its own accord, and who hears it. */
export class Inbound {
  readonly #namespace: string;
  readonly #log: Log;
  readonly #calls = new Bag<RunningCall>();
  readonly #listeners = new Set<() => void>();
  /** Hears of the subscription's life: it has begun, or the server has ended it. */
  onSubscription: ((event: "acknowledged" | "cancelled") => void) | undefined;

  constructor(namespace: string, log: Log) {
    this.#namespace = namespace;
    this.#log = log;
  }

  /** While a call runs, and is the only one, the server's log lines go to its client. Returns how to leave. */
  enter(ctx: ToolContext): () => void {
    const call = { ctx, bagIndex: -1 };
    this.#calls.add(call);
    return () => this.#calls.delete(call);
  }

  watch(listener: () => void): () => void {
    // Wrapped, so that one function watching twice is two listeners.
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  toolsChanged(): void {
    for (const listener of this.#listeners) listener();
  }

  notification({ method, params = {} }: JsonRpcNotification): void {
    switch (method) {
      case "notifications/tools/list_changed":
        return this.toolsChanged();
      case "notifications/message":
        return this.#message(params);
      case "notifications/subscriptions/acknowledged":
        return this.onSubscription?.("acknowledged");
      // A server cancels nothing but a subscription (specification 2026-07-28, basic/patterns/cancellation).
      case "notifications/cancelled":
        return this.onSubscription?.("cancelled");
    }
  }

  stray(incoming: Incoming): void {
    const what =
      incoming.kind === "invalid"
        ? `a message that cannot be read (${incoming.reason})`
        : "an answer to nothing";
    this.#log("debug", `Upstream "${this.#namespace}" sent ${what}.`);
  }

  #message({ level, data, logger }: JsonObject): void {
    const known: LogLevel = logLevels.find((one) => one === level) ?? "info";
    const [only] = this.#calls.size === 1 ? this.#calls.members() : [];
    if (only) return only.ctx.log(known, data, typeof logger === "string" ? logger : undefined);
    const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
    this.#log(known, `Upstream "${this.#namespace}": ${text.slice(0, maxLogged)}`);
  }
}
