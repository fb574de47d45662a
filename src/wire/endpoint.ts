import type { Cancellation } from "../core/cancellation.ts";
import type { LogLevel } from "../core/effects.ts";
import type { JsonObject } from "../core/json.ts";
import type { ClientInfo, Principal } from "../core/principal.ts";
import { Inflight } from "./inflight.ts";
import type { Incoming, JsonRpcNotification } from "./jsonrpc.ts";
import type { Headers } from "./protocol.ts";

/**
 * A connection that stays (stdio, a socket) or a legacy HTTP session. The door makes it; `initialize` fills
 * in what the client said. Modern requests keep no state here but what is in flight.
 */
export class Session {
  /** Unguessable; it names the session inside, and a door may show it to its client. */
  readonly id = crypto.randomUUID();
  readonly inflight = new Inflight();
  /** Set by `initialize`, and only there. */
  legacy: LegacyState | undefined;
  /** Sends what belongs to no request. The door sets it; a door that has nowhere to send drops it. */
  readonly notify: (notification: JsonRpcNotification) => void;

  constructor(notify: (notification: JsonRpcNotification) => void) {
    this.notify = notify;
  }
}

export interface LegacyState {
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly client?: ClientInfo;
  /** Nothing below it is sent. */
  logLevel?: LogLevel;
}

/** One message's way in and out, as its door provides it. */
export interface Exchange {
  readonly principal: Principal;
  /** Absent on HTTP where no legacy session is named. */
  readonly session?: Session;
  /** Present on HTTP only: the shell checks them against the body. */
  readonly headers?: Headers;
  /** Cancels this message alone. Absent where a session is there and its end is all that cancels from outside. */
  readonly cancellation?: Cancellation;
  /** Sends what belongs to this request, before its reply. */
  notify(notification: JsonRpcNotification): void;
}

/** An answer, encoded. `status` is for doors that speak HTTP. */
export interface Reply {
  readonly text: string;
  readonly status: number;
}

/** What a door serves. The server shell is one. */
export interface Endpoint {
  /**
   * Answers one message; undefined where none is due (a notification, a response, a cancelled request).
   * Never throws or rejects. Answers of one connection may come in any order.
   */
  handle(incoming: Incoming, exchange: Exchange): Reply | undefined | Promise<Reply | undefined>;
  /** The session has ended: its requests are cancelled and it hears nothing more. */
  closed(session: Session): void;
}
