import type { IncomingMessage } from "node:http";
import { Cancellation } from "../../core/cancellation.ts";
import type { Clock, Timer } from "../../core/effects.ts";
import { systemClock } from "../../core/systemClock.ts";
import { encode, type JsonRpcMessage, type RequestId } from "../../wire/jsonrpc.ts";
import type { Link, LinkEvents } from "../../wire/link.ts";
import { httpError, idOf } from "./dialAnswer.ts";
import { isEventStream, messageIn, readEvents, readText, TooLarge, type EventReader } from "./dialBody.ts";
import { plainAddress, startOf } from "./dialErrors.ts";
import { postHeaders } from "./dialHeaders.ts";
import { defaultMaxBytes, lingerMs, noticeMs, type DialHttpOptions } from "./dialOptions.ts";
import { Requester } from "./dialRequest.ts";

/** How long an open stream may be silent before it names its endpoint. */
const endpointMs = 10_000;
/** What is read of the answer to a POST that was accepted, in bytes. */
const maxAccepted = 64 * 1024;

/** A message that the server has not taken yet. */
interface Post {
  readonly cancellation: Cancellation;
  timer?: Timer;
}

/**
 * HTTP+SSE (specification 2024-11-05, basic/transports): GET opens a stream whose first event names the endpoint
 * to which messages are POSTed; whatever the server says comes on the stream. Its end is the end of the link.
 * Opens with the first message.
 */
export class SseLink implements Link {
  readonly #options: DialHttpOptions;
  readonly #events: LinkEvents;
  readonly #clock: Clock;
  readonly #url: URL;
  readonly #stream: Requester;
  /** The stream, and every message under way. */
  readonly #life = new Cancellation();
  readonly #running = new Map<RequestId, Post>();
  #opening: Promise<Requester> | undefined;
  #posts: Requester | undefined;
  #protocolVersion: string | undefined;
  #ended: Error | undefined;

  constructor(options: DialHttpOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
    this.#clock = options.clock ?? systemClock;
    this.#url = new URL(options.url);
    this.#stream = new Requester({ ...options, url: this.#url });
  }

  /** Resolves when the server has named its endpoint; rejects with an `Error` for a person. Each later call gives the same. */
  async open(): Promise<void> {
    await (this.#opening ??= this.#open());
  }

  async send(message: JsonRpcMessage): Promise<void> {
    if (this.#ended) throw this.#ended;
    const posts = await (this.#opening ??= this.#open());
    const post: Post = { cancellation: this.#life.child() };
    const id = idOf(message);
    if (id === undefined) this.#endAfter(noticeMs, post);
    else this.#running.set(id, post);
    const headers = postHeaders(message, { protocolVersion: this.#protocolVersion });
    try {
      const { cancellation } = post;
      const response = await posts.send({ method: "POST", headers, body: encode(message), cancellation });
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 299) throw await this.#refusal(response, posts.address);
      // The answer comes on the stream: of what else there is, nothing is needed.
      await readText(response, maxAccepted).catch(() => {});
    } finally {
      post.timer?.stop();
      post.cancellation.release();
      if (id !== undefined) this.#running.delete(id);
    }
  }

  /** A notification has to say it. */
  cancel(id: RequestId): boolean {
    this.#settled(id);
    return false;
  }

  negotiated(protocolVersion: string): void {
    this.#protocolVersion = protocolVersion;
  }

  close(): Promise<void> {
    this.#end(new Error(`The link to ${this.#stream.address} is closed.`));
    return Promise.resolve();
  }

  async #open(): Promise<Requester> {
    const { address } = this.#stream;
    const headers = { accept: "text/event-stream" };
    const response = await this.#stream.send({ method: "GET", headers, cancellation: this.#life });
    if (response.statusCode !== 200) throw await this.#refusal(response, address);
    if (!isEventStream(response)) {
      response.destroy();
      throw new Error(`${address} gives no stream of events.`);
    }
    return new Promise((resolve, reject) => {
      const silent = new Error(`${address} did not name an endpoint within ${endpointMs} ms.`);
      const timer = this.#clock.timer(() => this.#end(silent), endpointMs);
      const begun = (posts: Requester): void => {
        timer.stop();
        resolve(posts);
      };
      void this.#read(response, begun).then((error) => {
        timer.stop();
        reject(this.#ended ?? error);
        this.#over(error);
      });
    });
  }

  /** Resolves with the reason why the stream has ended. */
  async #read(response: IncomingMessage, begun: (posts: Requester) => void): Promise<Error> {
    const { address } = this.#stream;
    const maxBytes = this.#options.maxMessageBytes ?? defaultMaxBytes;
    const onEvent: EventReader["onEvent"] = (event) => {
      if (this.#ended) return;
      if (!this.#posts) return this.#begin(event, begun);
      const incoming = messageIn(event);
      if (!incoming) return;
      if (incoming.kind === "response") this.#settled(incoming.message.id);
      this.#events.message(incoming);
    };
    try {
      await readEvents(response, { maxBytes, onEvent });
      return new Error(`${address} ended its stream of events.`);
    } catch (error) {
      const reason =
        error instanceof TooLarge ? `a message is longer than ${maxBytes} bytes` : (error as Error).message;
      return new Error(`The stream of events from ${address} broke: ${reason}.`, { cause: error });
    }
  }

  /** Messages and credentials go to the origin that was configured, and nowhere else. */
  #begin({ event, data }: Parameters<EventReader["onEvent"]>[0], begun: (posts: Requester) => void): void {
    const { address } = this.#stream;
    if (event !== "endpoint" || !URL.canParse(data, this.#url.href))
      return this.#end(new Error(`${address} did not name an endpoint first, but sent: ${startOf(data)}`));
    const url = new URL(data, this.#url);
    if (url.origin === this.#url.origin) {
      this.#posts = new Requester({ ...this.#options, url });
      return begun(this.#posts);
    }
    const target = plainAddress(url);
    this.#end(
      new Error(`${address} wants messages sent to ${target}, which is another origin: that is refused.`),
    );
  }

  /** Nobody waits for its answer any more: the server may end the POST properly, but not keep it. */
  #settled(id: RequestId | null | undefined): void {
    const post = id === undefined || id === null ? undefined : this.#running.get(id);
    if (post) this.#endAfter(lingerMs, post);
  }

  #endAfter(ms: number, post: Post): void {
    post.timer ??= this.#clock.timer(() => post.cancellation.cancel("late"), ms);
  }

  async #refusal(response: IncomingMessage, address: string): Promise<Error> {
    const maxBytes = this.#options.maxMessageBytes ?? defaultMaxBytes;
    return httpError(response, address, await readText(response, maxBytes).catch(() => ""));
  }

  /** The stream has ended. Of a link that had not begun, whoever waits for its beginning hears. */
  #over(error: Error): void {
    const isNews = !this.#ended && this.#posts !== undefined;
    this.#end(error);
    if (isNews) this.#events.closed(error);
  }

  #end(error: Error): void {
    if (this.#ended) return;
    this.#ended = error;
    this.#life.cancel(error);
    this.#stream.close();
    this.#posts?.close();
  }
}
