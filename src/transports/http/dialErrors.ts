/** An HTTP answer that holds no JSON-RPC answer. The message names the address without its query, and the start of the body. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  /** The header of that name, where there is one (RFC 9110, section 11.6.1). */
  readonly wwwAuthenticate: string | undefined;

  constructor(status: number, message: string, wwwAuthenticate?: string) {
    super(message);
    this.status = status;
    this.wwwAuthenticate = wwwAuthenticate;
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

/** Text from a server in one line, cut to what a message to a person can hold. */
export function startOf(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line === "" ? "no explanation" : line.slice(0, 200);
}
