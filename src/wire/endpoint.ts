import type { Cancellation } from "../core/cancellation.ts";
import type { LogLevel } from "../core/effects.ts";
import type { JsonObject } from "../core/json.ts";
import type { ClientInfo, Principal } from "../core/principal.ts";
import { Inflight } from "./inflight.ts";
import type { Incoming, JsonRpcNotification, JsonRpcRequest } from "./jsonrpc.ts";
import type { Peer } from "./peer.ts";
import type { Headers } from "./protocol.ts";

/** What a server sends that is no answer. Only a legacy session may be sent requests. */
export type ServerMessage = JsonRpcNotification | JsonRpcRequest;

/** True for what a client that does not read may miss: only the latest of it matters. Anything else it would never know. */
export function isDroppable({ method }: ServerMessage): boolean {
  return method === "notifications/progress" || method === "notifications/message";
}

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
  /** What the server asks of this client; made by the endpoint with its first question. */
  peer: Peer | undefined;
  /** Sends what belongs to no request. The door sets it; a door that has nowhere to send drops it. */
  readonly send: (message: ServerMessage) => void;

  constructor(send: (message: ServerMessage) => void) {
    this.send = send;
  }
}

export interface LegacyState {
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly client?: ClientInfo;
  /** Nothing below it is sent. */
  logLevel?: LogLevel;
  /** What it has subscribed to, by URI; cancelling one ends it. */
  readonly subscriptions: Map<string, Cancellation>;
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
  /** Sends what belongs to this request, before its reply. False if there is no way: nothing may precede the reply, or it is out. */
  send(message: ServerMessage): boolean;
  /**
   * Holds no connection until the reply: what follows waits for the client to ask for it. Does nothing where the
   * client cannot. Absent where nothing of the kind exists (specification 2025-11-25, Sending Messages to the Server).
   */
  closeStream?(): void;
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
