/** An HTTP answer that holds no JSON-RPC answer. The message names the address without its query, and the start of the body. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * The server does not know the session any more and has not run the request (specification 2025-11-25,
 * transports, Session Management). A new connection begins a new session.
 */
export class SessionLost extends Error {
  override readonly name = "SessionLost";
}

/** An address for a person: without query, fragment and credentials. */
export function plainAddress(url: URL): string {
  return url.origin + url.pathname;
}

/** What went wrong below HTTP. Node tells of several failed addresses with an empty message. */
export function reasonOf(error: Error): string {
  if (error.message) return error.message;
  if (error instanceof AggregateError)
    return error.errors.map((one: unknown) => (one instanceof Error ? one.message : String(one))).join("; ");
  return error.name;
}
