import type { IncomingMessage, ServerResponse } from "node:http";
import type { Bag, BagMember } from "../../core/bag.ts";
import { Cancellation } from "../../core/cancellation.ts";
import type { Principal } from "../../core/principal.ts";
import type { Exchange, Reply, ServerMessage, Session } from "../../wire/endpoint.ts";
import { rpcErrors } from "../../wire/jsonrpc.ts";
import type { Headers } from "../../wire/protocol.ts";
import { EventStream, type StreamEffects, type StreamHead } from "./eventStream.ts";
import { ResumableStream } from "./resumable.ts";
import { refuse, sendEmpty, sendJson, type ResponseHeaders } from "./respond.ts";
import type { HttpSession } from "./sessions.ts";

const acceptsJson = /application\/(?:json|\*)|\*\/\*/i;
const acceptsEvents = /text\/(?:event-stream|\*)|\*\/\*/i;

/** True if an `Accept` header takes an event stream. */
export function wantsEvents(accept: string | undefined): boolean {
  return accept !== undefined && acceptsEvents.test(accept);
}

/** Reads a request's headers by lower-case name. */
export function headersOf(req: IncomingMessage): Headers {
  return (name) => {
    const value = req.headers[name];
    return typeof value === "string" ? value : undefined;
  };
}

/** The request that an exchange answers. */
export interface Asked {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly principal: Principal;
  /** All exchanges of the connection: this one is among them until its endpoint has answered. */
  readonly open: Bag<HttpExchange>;
}

/** What differs from one kind of message to another. */
export interface Terms {
  readonly session?: Session;
  /** Keeps a stream for a client that goes away and comes back. */
  readonly resumable?: HttpSession;
  /** A client that goes away has cancelled: in the modern era, and only there. */
  readonly cancelsOnClose?: boolean;
  /** Replaces the status of the reply. */
  readonly status?: number;
  /** Nothing may precede the reply, because `answered` gives headers for it. */
  readonly replyFirst?: boolean;
  /** Runs once when the endpoint has answered; `heard` is false if nobody gets to know. */
  answered?(heard: boolean): ResponseHeaders | undefined;
}

/** One POST: the message in its body, and the response, which becomes a stream if something comes before the reply. */
export class HttpExchange implements Exchange, BagMember {
  bagIndex = -1;
  readonly principal: Principal;
  readonly session?: Session;
  readonly headers: Headers;
  readonly cancellation = new Cancellation();
  readonly #asked: Asked;
  readonly #terms: Terms;
  readonly #effects: StreamEffects;
  /** The response, once it is a stream. */
  #out: EventStream | undefined;
  /** Where messages go then: to the response, or to a stream that may have other connections later. */
  #stream: EventStream | ResumableStream | undefined;
  #over = false;

  constructor(asked: Asked, terms: Terms, effects: StreamEffects) {
    this.#asked = asked;
    this.#terms = terms;
    this.#effects = effects;
    this.principal = asked.principal;
    this.headers = headersOf(asked.req);
    if (terms.session) this.session = terms.session;
    asked.open.add(this);
  }

  send(message: ServerMessage): boolean {
    if (!this.#mayStream) return false;
    (this.#stream ?? this.#openStream()).send(message);
    return true;
  }

  closeStream(): void {
    if (!this.#terms.resumable?.polls || !this.#mayStream) return;
    const stream = this.#stream ?? this.#openStream();
    if (stream instanceof ResumableStream) stream.pause();
  }

  /** The endpoint's answer, to be called once, also where the client is gone. */
  answer(reply: Reply | undefined): void {
    const { req, res, open } = this.#asked;
    open.delete(this);
    const headers = this.#terms.answered?.(!this.#over);
    if (this.#over) return;
    this.#over = true;
    if (this.#stream) return this.#stream.end(reply?.text);
    if (!reply) return sendEmpty(res, 202);
    const status = this.#terms.status ?? reply.status;
    const { accept } = req.headers;
    if (accept !== undefined && !acceptsJson.test(accept) && acceptsEvents.test(accept))
      return this.#openStream({ status, ...(headers && { headers }) }).end(reply.text);
    sendJson(res, status, reply.text, headers);
  }

  /** The client has gone away. */
  disconnected(): void {
    if (this.#over) return;
    this.#out?.closed();
    // It may come back for the rest.
    if (this.#stream instanceof ResumableStream) return;
    this.#over = true;
    if (this.#terms.cancelsOnClose) this.cancellation.cancel("the client closed the connection");
  }

  /** The server stops: the client is told, and the work is cancelled in either era. */
  stop(): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#stream) this.#stream.end();
    else
      refuse(this.#asked.res, {
        status: 503,
        code: rpcErrors.internalError,
        message: "The server is stopping and has cancelled this request. Try again once it runs.",
      });
    this.cancellation.cancel("the server is stopping");
  }

  /** False where nothing may precede the reply, or it is out. */
  get #mayStream(): boolean {
    return !this.#over && !this.#terms.replyFirst && wantsEvents(this.#asked.req.headers.accept ?? "*/*");
  }

  #openStream(head?: StreamHead): EventStream | ResumableStream {
    this.#out = new EventStream(this.#asked.res, this.#effects, head);
    this.#stream = this.#terms.resumable?.openStream(this.#out) ?? this.#out;
    return this.#stream;
  }
}
