import type { RawData, WebSocket } from "ws";
import type { Clock } from "../../core/effects.ts";
import { parse, type Incoming } from "../../wire/jsonrpc.ts";

/** The subprotocol (RFC 6455, section 1.9) by which both sides say that they speak MCP, a message a text frame. */
export const subprotocol = "mcp";

/** While a client has this much to read, in bytes, nothing more is read from it. */
const highWaterMark = 64 * 1024;
/** The other side is asked this often whether it is still there, in milliseconds. */
const pingMs = 30_000;
/** How long it may take to say goodbye, in milliseconds. */
const closingMs = 1_000;

/** Close codes (RFC 6455, section 7.4.1). */
const closeCodes = { goingAway: 1001, unsupportedData: 1003 } as const;

/**
 * Messages to a client, a text frame each. While it does not read them nothing is read from it: for the serving side
 * only, since two peers that both waited so would wait for ever. What does not go out any more is lost: the socket
 * tells its end.
 */
export class FrameWriter {
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** In bytes. */
  get held(): number {
    return this.#socket.bufferedAmount;
  }

  write(text: string): void {
    this.#socket.send(text, this.#written);
    if (this.held > highWaterMark && !this.#socket.isPaused) this.#socket.pause();
  }

  readonly #written = (): void => {
    if (this.#socket.isPaused && this.held <= highWaterMark) this.#socket.resume();
  };
}

/** Tells every message. A binary frame ends the connection: no message of MCP comes in one. */
export function readFrames(socket: WebSocket, onMessage: (incoming: Incoming) => void): void {
  socket.on("message", (data: RawData, isBinary: boolean) => {
    if (isBinary) socket.close(closeCodes.unsupportedData, "MCP uses text frames");
    // Never fragments or an ArrayBuffer: those are other values of `binaryType`.
    else onMessage(parse((data as Buffer).toString()));
  });
}

/** Cuts off a peer that answers no pings, which may have vanished without a word. */
export function keepAlive(socket: WebSocket, clock: Clock): void {
  let answered = true;
  const timer = clock.timer(() => {
    if (!answered) return socket.terminate();
    answered = false;
    socket.ping();
    timer.restart();
  }, pingMs);
  socket.on("pong", () => (answered = true));
  socket.on("close", () => timer.stop());
}

/** Says goodbye after what was written, and resolves when the connection has ended, by force in the end. */
export function endWebSocket(socket: WebSocket, clock: Clock): Promise<void> {
  if (socket.readyState === socket.CLOSED) return Promise.resolve();
  return new Promise((resolve) => {
    const impatience = clock.timer(() => socket.terminate(), closingMs);
    socket.once("close", () => {
      impatience.stop();
      resolve();
    });
    // Otherwise its goodbye would not be read.
    socket.resume();
    socket.close(closeCodes.goingAway);
  });
}
