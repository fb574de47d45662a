import { ResumableStream, type KeptEvent, type Keeper } from "./resumable.ts";

export interface ReplayLimits {
  /** Bytes of messages that a session's streams keep for their client. Default 1 MiB. */
  readonly bytes?: number;
  /** Messages that they keep. Default 1,000. */
  readonly events?: number;
  /** Bytes that all sessions keep; beyond, the one that has sent nothing for the longest loses what it keeps. Default 64 MiB. */
  readonly totalBytes?: number;
}

/** What the sessions of one listener keep, in all. */
export class ReplayBudget {
  readonly maxBytes: number;
  readonly maxEvents: number;
  readonly #total: number;
  /** Those that keep something; the one that was added to last is last. */
  readonly #logs = new Set<ReplayLog>();
  #bytes = 0;

  constructor({ bytes, events, totalBytes }: ReplayLimits = {}) {
    this.maxBytes = bytes ?? 1024 * 1024;
    this.maxEvents = events ?? 1000;
    this.#total = totalBytes ?? 64 * 1024 * 1024;
  }

  /** Bytes that are kept now. */
  get bytes(): number {
    return this.#bytes;
  }

  charge(log: ReplayLog, bytes: number): void {
    this.#bytes += bytes;
    this.#logs.delete(log);
    this.#logs.add(log);
    for (const oldest of this.#logs) {
      if (this.#bytes <= this.#total) return;
      oldest.forget();
    }
  }

  refund(log: ReplayLog, bytes: number): void {
    this.#bytes -= bytes;
    if (log.isEmpty) this.#logs.delete(log);
  }
}

const idForm = /^([0-9a-f]{8})-(\d{1,15})-(\d{1,15})$/;

/** The streams of one legacy session, and their last messages, the oldest of which go first. */
export class ReplayLog implements Keeper {
  /** Part of every event's id: one that a client has of another session means nothing here. */
  readonly tag = crypto.randomUUID().slice(0, 8);
  /** What belongs to no request: it goes to the client's GET. */
  readonly standalone: ResumableStream;
  readonly #budget: ReplayBudget;
  readonly #streams = new Map<number, ResumableStream>();
  #events: KeptEvent[] = [];
  #bytes = 0;
  #lastNumber = 0;
  #closed = false;

  constructor(budget: ReplayBudget) {
    this.#budget = budget;
    this.standalone = new ResumableStream(this, 0);
    this.#streams.set(0, this.standalone);
  }

  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  /** A stream for one request. */
  open(): ResumableStream {
    const stream = new ResumableStream(this, ++this.#lastNumber);
    this.#streams.set(stream.number, stream);
    return stream;
  }

  /** Where an event's id points; undefined if it is none of this session's, or what followed is not kept any more. */
  find(id: string): { stream: ResumableStream; position: number } | undefined {
    const [, tag, number, at] = idForm.exec(id) ?? [];
    const stream = tag === this.tag ? this.#streams.get(Number(number)) : undefined;
    const position = Number(at);
    return stream?.has(position) ? { stream, position } : undefined;
  }

  after(stream: ResumableStream, position: number): KeptEvent[] {
    return this.#events.filter((event) => event.stream === stream && event.position > position);
  }

  add(event: KeptEvent): void {
    if (this.#closed) return;
    this.#events.push(event);
    this.#bytes += event.bytes;
    this.#budget.charge(this, event.bytes);
    while (this.#bytes > this.#budget.maxBytes || this.#events.length > this.#budget.maxEvents) this.#drop();
  }

  /** A stream that is over is known for as long as something of it is kept. */
  ended(stream: ResumableStream): void {
    if (stream.isSpent) this.#streams.delete(stream.number);
  }

  /** Keeps none of what it has. */
  forget(): void {
    while (!this.isEmpty) this.#drop();
  }

  /** The session has ended: its streams end on every connection, and nothing is kept any more. */
  close(): void {
    this.forget();
    this.#closed = true;
    for (const stream of this.#streams.values()) stream.end();
  }

  #drop(): void {
    const event = this.#events.shift();
    if (!event) return;
    const { stream, position, bytes } = event;
    this.#bytes -= bytes;
    this.#budget.refund(this, bytes);
    stream.forget(position);
    this.ended(stream);
  }
}
