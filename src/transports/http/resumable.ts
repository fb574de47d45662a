import type { ServerMessage } from "../../wire/endpoint.ts";
import { encode } from "../../wire/jsonrpc.ts";
import { isDroppable } from "../../wire/endpoint.ts";
import type { EventStream, MessageStream } from "./eventStream.ts";

/** Milliseconds after which a client is to come back when its connection was closed. */
const retryMs = 1000;

/** A message that was sent, or waits for a connection. */
export interface KeptEvent {
  readonly stream: ResumableStream;
  readonly position: number;
  readonly text: string;
  readonly bytes: number;
}

/** Where a session's streams keep their messages. */
export interface Keeper {
  /** Part of every event's id. */
  readonly tag: string;
  add(event: KeptEvent): void;
  /** What is kept of `stream` after `position`, in order. */
  after(stream: ResumableStream, position: number): readonly KeptEvent[];
  /** Nothing more will come of it. */
  ended(stream: ResumableStream): void;
}

/**
 * A stream of a legacy session that outlives its connections: the client names the last event that it has, and
 * the stream goes on after it (specification 2025-11-25, Resumability and Redelivery). Its events have the
 * positions 1, 2, 3...
 */
export class ResumableStream implements MessageStream {
  readonly number: number;
  readonly #keeper: Keeper;
  #out: EventStream | undefined;
  /** The newest event's position. */
  #last = 0;
  /** The position up to which events have been written to a connection. */
  #sent = 0;
  #primed = false;
  #over = false;
  /** The position up to which its events are not kept any more. */
  #forgotten = 0;

  constructor(keeper: Keeper, number: number) {
    this.#keeper = keeper;
    this.number = number;
  }

  /** Nothing more will come, and nothing of it is kept. */
  get isSpent(): boolean {
    return this.#over && this.#forgotten === this.#last;
  }

  get isConnected(): boolean {
    return this.#out?.isOpen ?? false;
  }

  /** True if everything after `position` is here still, or is yet to come. */
  has(position: number): boolean {
    return position >= this.#forgotten && position <= this.#last;
  }

  /** True if nothing is left to be sent after `position`. */
  isDone(position: number): boolean {
    return this.#over && position === this.#last;
  }

  /** The keeper has dropped what there was up to `position`. */
  forget(position: number): void {
    this.#forgotten = position;
  }

  /** Starts on its first connection, or on another by a client that names no event: what has not been sent is. */
  connect(out: EventStream, prime: boolean): void {
    const from = Math.max(this.#sent, this.#forgotten);
    if (prime) {
      this.#primed = true;
      out.sendFields(`id: ${this.#idOf(from)}`, `retry: ${retryMs}`, "data:");
    }
    this.resume(out, from);
  }

  /** Goes on after `position`; a connection that it had is ended. */
  resume(out: EventStream, position: number): void {
    this.#out?.end();
    for (const event of this.#keeper.after(this, position))
      out.sendText(event.text, this.#idOf(event.position));
    this.#sent = this.#last;
    if (this.#over) out.end();
    else this.#out = out;
  }

  send(message: ServerMessage): void {
    const text = encode(message);
    const id = this.#keep(text);
    if (isDroppable(message)) this.#out?.sendDroppable(text, id);
    else this.#out?.sendText(text, id);
  }

  end(text?: string): void {
    const id = text === undefined ? undefined : this.#keep(text);
    this.#over = true;
    this.#keeper.ended(this);
    this.#out?.end(text, id);
    this.#out = undefined;
  }

  /** Closes the connection; the client comes back for the rest. Only where it has been told how. */
  pause(): void {
    if (this.#primed) this.#out?.end();
  }

  #keep(text: string): string {
    this.#last++;
    if (this.isConnected) this.#sent = this.#last;
    this.#keeper.add({ stream: this, position: this.#last, text, bytes: Buffer.byteLength(text) });
    return this.#idOf(this.#last);
  }

  #idOf(position: number): string {
    return `${this.#keeper.tag}-${this.number}-${position}`;
  }
}
