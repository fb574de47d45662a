import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Cancellation } from "../../core/cancellation.ts";
import type { Challenge, Credentials } from "./credentials.ts";
import { plainAddress, reasonOf } from "./dialErrors.ts";
import { lowerCase, type HeaderMap } from "./dialHeaders.ts";

export interface RequesterOptions {
  readonly url: URL;
  readonly headers?: HeaderMap | undefined;
  readonly credentials?: Credentials | undefined;
}

export interface Outgoing {
  readonly method: "POST" | "GET" | "DELETE";
  /** Names are lower-case. */
  readonly headers: HeaderMap;
  readonly body?: string;
  /** Ends the exchange, also while its response is being read. */
  readonly cancellation: Cancellation;
}

/** How often one request is made again after the server has refused its credentials. */
const maxAgain = 3;

/**
 * Makes requests to one address over connections that are kept. It is `node:http` and not `fetch`: that one
 * ends every answer after five silent minutes, which a listen stream or a long call may well have.
 * Redirects are never followed, so that configured credentials go to the configured address only.
 */
export class Requester {
  readonly address: string;
  readonly #options: RequesterOptions;
  readonly #headers: HeaderMap;
  readonly #agent: HttpAgent | HttpsAgent;

  constructor(options: RequesterOptions) {
    this.#options = options;
    this.#headers = lowerCase(options.headers ?? {});
    this.address = plainAddress(options.url);
    // Idle connections go before servers usually close them (Node's do so after 5 s): a request that is
    // written into a closing connection fails, and nobody can tell whether it ran.
    const keep = { keepAlive: true, timeout: 4_000 };
    this.#agent = options.url.protocol === "https:" ? new HttpsAgent(keep) : new HttpAgent(keep);
  }

  /**
   * The head of the response, whose body is still to be read. Rejects with an `Error` that names the address if
   * nothing answers there, and with what `credentials` reject with. A request whose credentials are refused has
   * not been run, and is made again with others.
   */
  send(outgoing: Outgoing): Promise<IncomingMessage> {
    const { credentials } = this.#options;
    return credentials ? this.#authorized(outgoing, credentials) : this.#once(outgoing, this.#headers);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #authorized(outgoing: Outgoing, credentials: Credentials): Promise<IncomingMessage> {
    const { cancellation, method } = outgoing;
    for (let again = 0; ; again++) {
      const sent = await unlessCancelled(cancellation, credentials.headers());
      const response = await this.#once(outgoing, { ...this.#headers, ...sent });
      const challenge = challengeOf(response, sent);
      // Nobody is asked to log in for the sake of a farewell.
      if (!challenge || again === maxAgain || method === "DELETE") return response;
      if (!(await unlessCancelled(cancellation, credentials.refused(challenge)))) return response;
      discard(response);
    }
  }

  #once({ method, headers, body, cancellation }: Outgoing, own: HeaderMap): Promise<IncomingMessage> {
    const { url } = this.#options;
    const open = url.protocol === "https:" ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      const request = open(url, { method, agent: this.#agent, headers: { ...own, ...headers } });
      const stop = cancellation.onCancel(() => request.destroy());
      request.on("response", resolve);
      request.on("error", (error) =>
        reject(new Error(`Could not reach ${this.address}: ${reasonOf(error)}`, { cause: error })),
      );
      request.on("close", () => {
        stop();
        reject(new Error(`${this.address} closed the connection without an answer`));
      });
      request.end(body);
    });
  }
}

/** Keeps the connection only where nothing is left to come on it: a body may be without end. */
function discard(response: IncomingMessage): void {
  if (response.complete) response.resume();
  else response.destroy();
}

/** What the server refuses before it runs anything, and other credentials may change (RFC 6750, section 3.1). */
function challengeOf({ statusCode, headers }: IncomingMessage, sent: HeaderMap): Challenge | undefined {
  const wwwAuthenticate = headers["www-authenticate"];
  const lacksScope =
    statusCode === 403 && /\berror\s*=\s*"?insufficient_scope\b/i.test(wwwAuthenticate ?? "");
  return statusCode === 401 || lacksScope ? { status: statusCode, wwwAuthenticate, sent } : undefined;
}

/** Settles as `promise` does; rejects when cancelled first. */
function unlessCancelled<T>(cancellation: Cancellation, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = cancellation.onCancel(() =>
      reject(new Error("the request was given up while it waited for credentials")),
    );
    promise.then(resolve, reject).finally(stop);
  });
}
