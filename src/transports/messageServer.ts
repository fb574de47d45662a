import type { Log } from "../core/effects.ts";
import type { Principal } from "../core/principal.ts";
import {
  isDroppable,
  Session,
  type Endpoint,
  type Exchange,
  type Reply,
  type ServerMessage,
} from "../wire/endpoint.ts";
import { encode, type Incoming, type JsonRpcResponse } from "../wire/jsonrpc.ts";

/** While a client has this much to read, in bytes, it gets no more progress and logs. Anything else is never dropped. */
const maxUnread = 1024 * 1024;
/** A client that leaves this much unread when it is told of a change, in bytes, is cut off: it would never know. */
const maxHeld = 64 * 1024 * 1024;
/** The same for an answer, in bytes: a client may well have asked for many long ones at once. */
const maxHeldAnswers = 256 * 1024 * 1024;

/** Stands between one client and the endpoint. */
export interface Gate {
  /** Decides by the first message who the client is. A refused client gets the answer, if there is one, and is cut off. */
  admit(first: Incoming): Admission;
  /** Takes out of a message of an admitted client what is not for the endpoint. */
  strip?(incoming: Incoming): void;
}

export type Admission = { readonly principal: Principal } | { readonly refusal: JsonRpcResponse | undefined };

/** Lets the client in as `principal`, whatever it says. */
export function openTo(principal: Principal): Gate {
  return { admit: () => ({ principal }) };
}

export interface MessageServerOptions {
  readonly gate: Gate;
  readonly log: Log;
  readonly writer: {
    /** What has been written and not been taken yet, in bytes or characters. */
    readonly held: number;
    /** Takes one message, and drops it where the connection has failed. */
    write(text: string): void;
  };
  /** Lets what was written go out, within a bound, and ends the connection. Called once; must not reject. */
  end(): Promise<void>;
}

type Admitted = Exchange & { readonly session: Session };

/**
 * One client of an endpoint, over a connection that stays and carries whole messages both ways. Its messages are
 * handled side by side. Whoever reads from the connection tells what comes in, and when it is lost.
 */
export class MessageServer {
  /** Resolves when the client is gone or `close` was called, and the connection has ended. */
  readonly closed: Promise<void>;
  readonly #endpoint: Endpoint;
  readonly #options: MessageServerOptions;
  /** One for all messages: nothing in it differs between them, and they are many. Undefined until the client is admitted. */
  #exchange: Admitted | undefined;
  #resolveClosed: () => void = () => {};
  #over = false;
  #dropped = false;

  constructor(endpoint: Endpoint, options: MessageServerOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
  }

  get admitted(): boolean {
    return this.#exchange !== undefined;
  }

  receive(incoming: Incoming): void {
    if (this.#over) return;
    const exchange = this.#exchange ?? this.#admit(incoming);
    if (!exchange) return;
    this.#options.gate.strip?.(incoming);
    const reply = this.#endpoint.handle(incoming, exchange);
    if (reply instanceof Promise) void reply.then(this.#reply);
    else this.#reply(reply);
  }

  /** Nothing more will come; `error` is there unless the client left in order. */
  lost(error?: Error): void {
    if (error && !this.#over) this.#options.log("info", `The client's connection broke: ${error.message}`);
    void this.close();
  }

  /** Cancels what is in flight and ends the connection. Safe to call twice. */
  close(): Promise<void> {
    if (this.#over) return this.closed;
    this.#over = true;
    if (this.#exchange) this.#endpoint.closed(this.#exchange.session);
    void this.#options.end().then(this.#resolveClosed);
    return this.closed;
  }

  #admit(first: Incoming): Admitted | undefined {
    const admission = this.#options.gate.admit(first);
    if ("principal" in admission) {
      const session = new Session((message) => void this.#tell(message));
      const { principal } = admission;
      return (this.#exchange = { principal, session, send: (message) => this.#tell(message) });
    }
    this.#options.log("info", "A client was cut off: its first message did not let it in.");
    if (admission.refusal) this.#send(encode(admission.refusal));
    void this.close();
    return undefined;
  }

  readonly #reply = (reply: Reply | undefined): void => {
    if (!reply) return;
    if (this.#options.writer.held > maxHeldAnswers) this.#cut(maxHeldAnswers);
    else this.#send(reply.text);
  };

  #tell(message: ServerMessage): boolean {
    if (this.#over) return false;
    const { writer, log } = this.#options;
    const missed = writer.held > maxUnread && isDroppable(message);
    if (missed && !this.#dropped)
      log("warning", "A client does not read: progress and logs for it are dropped.");
    this.#dropped ||= missed;
    if (missed) return true;
    if (writer.held > maxHeld) this.#cut(maxHeld);
    else this.#send(encode(message));
    return !this.#over;
  }

  #cut(limit: number): void {
    this.lost(new Error(`it leaves more than ${limit} bytes unread`));
  }

  #send(text: string): void {
    if (!this.#over) this.#options.writer.write(text);
  }
}
