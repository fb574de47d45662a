import type { ClientRequest, IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import type { Clock } from "../../core/effects.ts";
import { systemClock } from "../../core/systemClock.ts";
import { encode, type JsonRpcMessage } from "../../wire/jsonrpc.ts";
import type { Dial, Link, LinkEvents } from "../../wire/link.ts";
import { plainAddress, reasonOf } from "../http/dialErrors.ts";
import { endWebSocket, keepAlive, readFrames, subprotocol } from "./frames.ts";

export interface DialWebSocketOptions {
  /** `ws:` or `wss:`. */
  readonly url: string;
  /** Sent with the request for the connection, credentials for example. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default 32 MiB. A longer message ends the connection. */
  readonly maxMessageBytes?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** How long the server may take to accept the connection, in milliseconds. */
const handshakeTimeout = 30_000;
/** While the server has this much to read, in bytes, nothing more is sent to it. */
const maxUnread = 64 * 1024 * 1024;

/**
 * Reaches a server over WebSocket with the subprotocol `mcp`, a message a text frame. Rejects with an `Error` for a
 * person if the server cannot be reached or refuses. Redirects are not followed, so that configured credentials go to
 * the configured address only.
 */
export function dialWebSocket(options: DialWebSocketOptions): Dial {
  return async (events) => {
    const { url, headers = {}, maxMessageBytes = 32 * 1024 * 1024, clock = systemClock } = options;
    const socket = new WebSocket(url, subprotocol, {
      headers,
      handshakeTimeout,
      perMessageDeflate: false,
      maxPayload: maxMessageBytes,
    });
    // Before it is open: the first message may come in the same packet.
    const link = new WebSocketLink(socket, { events, clock, maxMessageBytes });
    await opened(socket, plainAddress(new URL(url)));
    link.opened();
    return link;
  };
}

function opened(socket: WebSocket, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.on("open", resolve);
    socket.on("error", (cause) =>
      reject(new Error(`Could not reach ${address}: ${reasonOf(cause)}`, { cause })),
    );
    socket.on("unexpected-response", (request: ClientRequest, { statusCode = 0 }: IncomingMessage) => {
      request.destroy();
      const hint =
        statusCode === 401 || statusCode === 403
          ? 'It wants credentials, or others than these: set "headers" of this server, for example "Authorization".'
          : "Check the path of the URL.";
      reject(new Error(`${address} refused the connection with ${statusCode}. ${hint}`));
    });
  });
}

interface LinkOptions {
  readonly events: LinkEvents;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
}

class WebSocketLink implements Link {
  readonly #socket: WebSocket;
  readonly #options: LinkOptions;
  #error: Error | undefined;
  #open = false;

  constructor(socket: WebSocket, options: LinkOptions) {
    this.#socket = socket;
    this.#options = options;
    readFrames(socket, (incoming) => options.events.message(incoming));
    socket.on("error", (error) => (this.#error = error));
    socket.on("close", (code) => this.#lost(code));
  }

  opened(): void {
    this.#open = true;
    keepAlive(this.#socket, this.#options.clock);
  }

  send(message: JsonRpcMessage): void {
    if (!this.#open || this.#socket.readyState !== WebSocket.OPEN)
      throw new Error("the connection is closed");
    const held = this.#socket.bufferedAmount;
    if (held > maxUnread) throw new Error(`it does not read what it is sent: ${held} bytes wait`);
    this.#socket.send(encode(message));
  }

  async close(): Promise<void> {
    this.#open = false;
    await endWebSocket(this.#socket, this.#options.clock);
  }

  /** Before it is open the dialler's rejection tells it; after `close` nobody wants to know. */
  #lost(code: number): void {
    if (!this.#open) return;
    this.#open = false;
    this.#options.events.closed(new Error(this.#reason(code)));
  }

  #reason(code: number): string {
    const error = this.#error as NodeJS.ErrnoException | undefined;
    if (error?.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH")
      return `a message was longer than the limit of ${this.#options.maxMessageBytes} bytes`;
    if (error) return `the connection broke: ${error.message}`;
    return `the other side closed the connection (code ${code})`;
  }
}
