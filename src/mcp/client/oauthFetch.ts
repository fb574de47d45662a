import type { FetchLike } from "@modelcontextprotocol/client";
import type { Clock } from "../../core/effects.ts";
import { plainAddress, reasonOf } from "../../transports/http/dialErrors.ts";

export interface BoundedFetchOptions {
  readonly fetch: FetchLike;
  readonly clock: Clock;
  /** The server that tokens are for. */
  readonly server: URL;
}

/** How long one answer may take, body included. */
const answerMs = 10_000;
/** The longest body: metadata and tokens are short. */
const maxBytes = 1024 * 1024;

/**
 * `fetch` for what OAuth needs from addresses that a server names: bounded in time and size, and by https only
 * (specification 2026-07-28, basic/authorization/security-considerations, Communication Security). Rejects with a
 * `TypeError` for a person, as `fetch` does: that ends discovery where another error would have it go on.
 */
export function boundedFetch({ fetch, clock, server }: BoundedFetchOptions): FetchLike {
  return async (input, init) => {
    const url = new URL(input);
    const address = plainAddress(url);
    if (!mayBeAsked(url, server)) throw new TypeError(`${address} is not https, so nothing is asked there.`);
    const late = new AbortController();
    const timer = clock.timer(() => late.abort(new Error(`no answer within ${answerMs / 1000} s`)), answerMs);
    try {
      const response = await fetch(url, { ...init, signal: late.signal });
      const { status, statusText, headers } = response;
      return new Response(await readBody(response), { status, statusText, headers });
    } catch (error) {
      throw new TypeError(`${address} could not be read: ${explain(error)}`, {
        cause: error,
      });
    } finally {
      timer.stop();
    }
  };
}

/**
 * By plain http only the server itself, and what else is on this machine if that is: a server elsewhere must not have
 * local services asked.
 */
function mayBeAsked(url: URL, server: URL): boolean {
  if (url.protocol === "https:" || url.origin === server.origin) return true;
  return isSecure(url) && server.protocol === "http:" && isSecure(server);
}

/** True for https, and for http on this machine (RFC 8252, section 8.3). */
export function isSecure({ protocol, hostname }: URL): boolean {
  if (protocol === "https:") return true;
  const loopback = ["localhost", "127.0.0.1", "[::1]"].includes(hostname) || hostname.endsWith(".localhost");
  return protocol === "http:" && loopback;
}

/** Null for a body that is not there, as some statuses demand. */
async function readBody(response: Response): Promise<Buffer<ArrayBuffer> | null> {
  if (!response.body) return null;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`it is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What `fetch` calls "fetch failed" has its reason in its cause. */
function explain(error: unknown): string {
  const reason = error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
  return reason instanceof Error ? reasonOf(reason) : String(reason);
}
