import type { Endpoint } from "../../wire/endpoint.ts";
import type { Incoming } from "../../wire/jsonrpc.ts";
import { eraOf, isModernVersion, legacyVersions, type Headers } from "../../wire/protocol.ts";
import { isJson, notJson, readMessage } from "./body.ts";
import { EventStream, type StreamEffects } from "./eventStream.ts";
import { headersOf, HttpExchange, wantsEvents, type Asked, type Terms } from "./exchange.ts";
import { ReplayBudget, type ReplayLimits } from "./replay.ts";
import { isQueued, queuedStream, refuse, sendEmpty, type Refusal } from "./respond.ts";
import { HttpSession, type Sessions } from "./sessions.ts";

/** A request that has come through the door. */
export interface Admitted extends Asked {
  readonly endpoint: Endpoint;
}

export interface MessagesOptions {
  readonly maxMessageBytes: number;
  readonly effects: StreamEffects;
  readonly sessions: Sessions;
  readonly replayLimits?: ReplayLimits;
}

const unknownSession: Refusal = {
  status: 404,
  message:
    "Session not found: it has ended, or it was never opened here. Send initialize without Mcp-Session-Id to open one.",
};

const notAllowed: Refusal = {
  status: 405,
  message:
    "Send messages by POST. GET (with Accept: text/event-stream) and DELETE are for sessions of revision 2025-11-25 and older, named by Mcp-Session-Id.",
  headers: { Allow: "POST" },
};

const oneStream: Refusal = {
  status: 409,
  message: "This session has a stream already. Close it before opening another.",
};

/** Not 404, which would end the session, and not a new stream, which would hide that something is missing. */
const notKept: Refusal = {
  status: 400,
  message:
    "Last-Event-ID names no event of this session, or what followed it is not kept any more. Messages are lost: send GET without Last-Event-ID to hear of what comes, and read again what may have changed.",
};

const anyMessage: Terms = {};
const modernMessage: Terms = { cancelsOnClose: true };
const tooLarge: Terms = { status: 413 };

/** The methods of an MCP endpoint, for both eras at once (specification 2026-07-28 and 2025-11-25, Streamable HTTP). */
export class Messages {
  readonly #options: MessagesOptions;
  readonly #budget: ReplayBudget;

  constructor(options: MessagesOptions) {
    this.#options = options;
    this.#budget = new ReplayBudget(options.replayLimits);
  }

  handle(admitted: Admitted): void {
    const { method } = admitted.req;
    if (method === "POST") return this.#post(admitted);
    if (method === "GET") return this.#get(admitted);
    if (method === "DELETE") return this.#delete(admitted);
    refuse(admitted.res, notAllowed);
  }

  #post(admitted: Admitted): void {
    const { req, res } = admitted;
    if (!isJson(req.headers["content-type"])) return refuse(res, notJson);
    readMessage(req, this.#options.maxMessageBytes, (incoming) => this.#message(incoming, admitted));
  }

  #message(incoming: Incoming, admitted: Admitted): void {
    if (incoming.kind === "invalid")
      return this.#serve(incoming, admitted, incoming.reason === "size" ? tooLarge : anyMessage);
    if (isModern(incoming, headersOf(admitted.req))) return this.#serve(incoming, admitted, modernMessage);
    if (incoming.kind === "request" && incoming.message.method === "initialize")
      return this.#initialize(incoming, admitted);
    this.#legacy(incoming, admitted);
  }

  /** The session is there from the start, and known once `initialize` has been answered with a result. */
  #initialize(incoming: Incoming, admitted: Admitted): void {
    const { endpoint, principal } = admitted;
    const opening = new HttpSession(endpoint, principal, this.#budget);
    const { session } = opening;
    const answered = (heard: boolean): { "Mcp-Session-Id": string } | undefined => {
      if (session.legacy && heard) {
        this.#options.sessions.add(opening);
        return { "Mcp-Session-Id": session.id };
      }
      opening.end();
      if (session.legacy) endpoint.closed(session);
      return undefined;
    };
    this.#serve(incoming, admitted, { session, answered, replyFirst: true });
  }

  #legacy(incoming: Incoming, admitted: Admitted): void {
    const { sessions } = this.#options;
    const { req, res, endpoint, principal } = admitted;
    const headers = headersOf(req);
    const id = incoming.kind === "request" ? { id: incoming.message.id } : undefined;
    const wrongVersion = refusedVersion(headers);
    if (wrongVersion) return refuse(res, { ...wrongVersion, ...id });
    const name = headers("mcp-session-id");
    if (name === undefined) return this.#serve(incoming, admitted, anyMessage);
    const found = sessions.find(name, endpoint, principal);
    if (!found) return refuse(res, { ...unknownSession, ...id });
    found.active++;
    const answered = (): undefined => {
      found.active--;
      sessions.touch(found);
    };
    this.#serve(incoming, admitted, { session: found.session, resumable: found, answered });
  }

  #serve(incoming: Incoming, admitted: Admitted, terms: Terms): void {
    const exchange = new HttpExchange(admitted, terms, this.#options.effects);
    const reply = admitted.endpoint.handle(incoming, exchange);
    if (reply instanceof Promise) void reply.then((late) => exchange.answer(late));
    else exchange.answer(reply);
  }

  #get(admitted: Admitted): void {
    const { req, res } = admitted;
    if (!wantsEvents(req.headers.accept)) return refuse(res, notAllowed);
    if (isQueued(res)) return refuse(res, queuedStream);
    const found = this.#named(admitted);
    if (!found) return;
    const lastEvent = headersOf(req)("last-event-id");
    if (lastEvent) return this.#resume(admitted, found, lastEvent);
    const { standalone } = found.log;
    if (standalone.isConnected) return refuse(res, oneStream);
    standalone.connect(this.#listen(admitted, found), found.polls);
  }

  /** Whoever knows the last event of a stream takes it over: an old connection may be dead without our knowing. */
  #resume(admitted: Admitted, found: HttpSession, lastEvent: string): void {
    const at = found.log.find(lastEvent);
    if (!at) return refuse(admitted.res, notKept);
    // It tells a client to stop reconnecting (WHATWG HTML, section 9.2.1); after an empty stream some would go on.
    if (at.stream.isDone(at.position)) return sendEmpty(admitted.res, 204);
    at.stream.resume(this.#listen(admitted, found), at.position);
  }

  #listen({ req, res }: Admitted, found: HttpSession): EventStream {
    const out = new EventStream(res, this.#options.effects);
    res.flushHeaders();
    // A body has no meaning here, but unread it would hide that the client goes away.
    req.resume();
    res.on("close", () => {
      out.closed();
      this.#options.sessions.touch(found);
    });
    return out;
  }

  #delete(admitted: Admitted): void {
    const found = this.#named(admitted);
    if (!found) return;
    this.#options.sessions.end(found);
    sendEmpty(admitted.res, 204);
  }

  /** The session that a GET or DELETE is for; where there is none, the request has been refused. */
  #named({ req, res, endpoint, principal }: Admitted): HttpSession | undefined {
    const headers = headersOf(req);
    const name = headers("mcp-session-id");
    const found = name === undefined ? undefined : this.#options.sessions.find(name, endpoint, principal);
    const refusal =
      name === undefined || isModernVersion(headers("mcp-protocol-version"))
        ? notAllowed
        : (refusedVersion(headers) ?? (found ? undefined : unknownSession));
    if (!refusal) return found;
    refuse(res, refusal);
    return undefined;
  }
}

function isModern(incoming: Incoming, headers: Headers): boolean {
  return incoming.kind === "request" || incoming.kind === "notification"
    ? eraOf(incoming.message, headers) === "modern"
    : isModernVersion(headers("mcp-protocol-version"));
}

/** Legacy requests may state their revision, and then it must be one of ours (specification 2025-11-25, Protocol Version Header). */
function refusedVersion(headers: Headers): Refusal | undefined {
  const version = headers("mcp-protocol-version");
  if (version === undefined || (legacyVersions as readonly string[]).includes(version)) return undefined;
  return {
    status: 400,
    message: `MCP-Protocol-Version "${version}" is not supported here. Supported: ${legacyVersions.join(", ")}.`,
  };
}
