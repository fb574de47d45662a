import type { IncomingMessage, ServerResponse } from "node:http";
import type { Principal } from "../../core/principal.ts";
import { Session, type Endpoint, type Exchange, type ServerMessage } from "../../wire/endpoint.ts";
import type { Incoming } from "../../wire/jsonrpc.ts";
import { isJson, notJson, readMessage } from "./body.ts";
import { EventStream, type StreamEffects } from "./eventStream.ts";
import { wantsEvents } from "./exchange.ts";
import { isQueued, queuedStream, refuse, sendEmpty, sendJson, type Refusal } from "./respond.ts";
import type { OpenSession, Sessions } from "./sessions.ts";

/** A request that has come through the door. */
export interface SseRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly path: string;
  readonly principal: Principal;
}

/** One client's stream. It is all that the session has: with it everything ends. */
export class SseSession implements OpenSession {
  readonly endpoint: Endpoint;
  readonly principal: Principal;
  readonly session: Session;
  readonly exchange: Exchange;
  readonly stream: EventStream;
  readonly idle = false;
  lastUsed = 0;

  constructor(endpoint: Endpoint, principal: Principal, stream: EventStream) {
    const send = (message: ServerMessage): boolean => {
      stream.send(message);
      return stream.isOpen;
    };
    this.endpoint = endpoint;
    this.principal = principal;
    this.stream = stream;
    this.session = new Session(send);
    this.exchange = { principal, session: this.session, send };
  }

  end(): void {
    this.stream.end();
  }
}

export interface SseDoorOptions {
  /** What is served at a path: this door is below it. */
  route(path: string): Endpoint | undefined;
  readonly maxMessageBytes: number;
  readonly effects: StreamEffects;
  readonly sessions: Sessions<SseSession>;
}

const pathForm = /^(.+)\/(sse|messages)$/;

const unknownStream: Refusal = {
  status: 404,
  message:
    "No stream is open under this sessionId. Open one with GET, and post to the address that it names first.",
};

/**
 * The deprecated HTTP with SSE (specification 2024-11-05, Transports): `GET <endpoint>/sse` is a stream, whose
 * first event names the address that takes the client's messages. Everything that the server says, answers too,
 * goes out on the stream.
 */
export class SseDoor {
  readonly #options: SseDoorOptions;

  constructor(options: SseDoorOptions) {
    this.#options = options;
  }

  /** Answers, unless nothing is served at the path: then it returns false. */
  handle(request: SseRequest): boolean {
    const [, base, part] = pathForm.exec(request.path) ?? [];
    const endpoint = base === undefined ? undefined : this.#options.route(base);
    if (base === undefined || !endpoint) return false;
    if (part === "sse") this.#open(request, endpoint, base);
    else this.#post(request, endpoint);
    return true;
  }

  /** The stream's end is the session's (specification 2024-11-05, Lifecycle, Shutdown). */
  #open({ req, res, principal }: SseRequest, endpoint: Endpoint, base: string): void {
    if (req.method !== "GET" || !wantsEvents(req.headers.accept))
      return refuse(res, {
        status: 405,
        message: `This address takes GET with Accept: text/event-stream. Clients of revision 2025-03-26 and newer use ${base}.`,
        headers: { Allow: "GET" },
      });
    if (isQueued(res)) return refuse(res, queuedStream);
    const { sessions, effects } = this.#options;
    const opened = new SseSession(endpoint, principal, new EventStream(res, effects));
    sessions.add(opened);
    res.on("close", () => {
      opened.stream.closed();
      sessions.end(opened);
    });
    // A body has no meaning here, but unread it would hide that the client goes away.
    req.resume();
    opened.stream.sendFields("event: endpoint", `data: ${base}/messages?sessionId=${opened.session.id}`);
  }

  #post({ req, res, principal }: SseRequest, endpoint: Endpoint): void {
    if (req.method !== "POST")
      return refuse(res, { status: 405, message: "Send messages by POST.", headers: { Allow: "POST" } });
    if (!isJson(req.headers["content-type"])) return refuse(res, notJson);
    readMessage(req, this.#options.maxMessageBytes, (incoming) => {
      const found = this.#options.sessions.find(sessionIdOf(req), endpoint, principal);
      if (found) void this.#message(incoming, found, res);
      else refuse(res, unknownStream);
    });
  }

  async #message(incoming: Incoming, found: SseSession, res: ServerResponse): Promise<void> {
    this.#options.sessions.touch(found);
    // What cannot be read is refused where it came: on the stream nobody would know what the answer is to.
    const isRead = incoming.kind !== "invalid";
    if (isRead) sendEmpty(res, 202);
    const reply = await found.endpoint.handle(incoming, found.exchange);
    if (!reply) return;
    if (isRead) found.stream.sendText(reply.text);
    else sendJson(res, incoming.reason === "size" ? 413 : reply.status, reply.text);
  }
}

function sessionIdOf({ url = "" }: IncomingMessage): string {
  return new URLSearchParams(url.slice(url.indexOf("?") + 1)).get("sessionId") ?? "";
}
