import type { Incoming, JsonRpcMessage, RequestId } from "./jsonrpc.ts";

/** What a link tells of itself. */
export interface LinkEvents {
  /**
   * A message from the other side. `cause` is the request of ours that it came in answer to, where the transport
   * knows: the one on whose HTTP response it arrived.
   */
  message(incoming: Incoming, cause?: RequestId): void;
  /** What the other side has told of its own accord meanwhile may be lost. */
  missed?(): void;
  /** The other side is gone. Called once; nothing follows. `error` says why, for a person. */
  closed(error: Error): void;
}

/** A way to a peer: the side that dials. */
export interface Link {
  /** Resolves when the message is on its way; rejects if it cannot be, and then it gets no answer. */
  send(message: JsonRpcMessage, extra?: SendOptions): void | Promise<void>;
  /** Withdraws a request by closing its stream. False where the transport has none: then a notification says it. */
  cancel?(id: RequestId): boolean;
  /** Ends the link and whatever it holds; `closed` is not called for it. */
  close(): Promise<void>;
  /** Tells HTTP which legacy revision was negotiated, for its header. */
  negotiated?(protocolVersion: string): void;
}

export interface SendOptions {
  /** Where several ways lead to the peer, the one to take. */
  readonly via?: (message: JsonRpcMessage) => void;
  /** Extra HTTP headers; transports without headers ignore them. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Opens a link. Rejects with an `Error` for a person if the peer cannot be reached. */
export type Dial = (events: LinkEvents) => Promise<Link>;
