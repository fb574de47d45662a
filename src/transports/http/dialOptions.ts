import type { Clock } from "../../core/effects.ts";
import type { Credentials } from "./credentials.ts";

export interface DialHttpOptions {
  /** The MCP endpoint, http or https; the event stream of an HTTP+SSE server. */
  readonly url: string;
  /** Sent with every request, credentials for example. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Credentials that change. Their headers go with every request and win over `headers`. */
  readonly credentials?: Credentials;
  /**
   * True: the server speaks HTTP+SSE (specification 2024-11-05). False: it does not. Absent: that is tried where
   * it refuses `initialize` as such a server would.
   */
  readonly sse?: boolean;
  /** The longest body, or event of a stream. Default 32 MiB. */
  readonly maxMessageBytes?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
}

export const defaultMaxBytes = 32 * 1024 * 1024;

/** How long the server may take over a message that wants no answer, in milliseconds. */
export const noticeMs = 10_000;

/** How long the response to a request that was answered or cancelled may stay open, in milliseconds. */
export const lingerMs = 5_000;
