import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { HeaderMap } from "./dialHeaders.ts";
import { plainAddress, reasonOf } from "./dialErrors.ts";

/** One request under way. */
export interface Requested {
  readonly request: ClientRequest;
  /** Rejects with an `Error` that names the address if nothing answers there. */
  readonly response: Promise<IncomingMessage>;
}

/**
 * Makes requests to one address over connections that are kept. It is `node:http` and not `fetch`: that one
 * ends every answer after five silent minutes, which a listen stream or a long call may well have.
 * Redirects are never followed, so that configured credentials go to the configured address only.
 */
export class Requester {
  readonly address: string;
  readonly #url: URL;
  readonly #headers: HeaderMap;
  readonly #agent: HttpAgent | HttpsAgent;

  constructor(url: URL, headers: HeaderMap) {
    this.#url = url;
    this.#headers = headers;
    this.address = plainAddress(url);
    // Idle connections go before servers usually close them (Node's do so after 5 s): a request that is
    // written into a closing connection fails, and nobody can tell whether it ran.
    const options = { keepAlive: true, timeout: 4_000 };
    this.#agent = url.protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options);
  }

  start(method: "POST" | "GET" | "DELETE", headers: HeaderMap, body?: string): Requested {
    const open = this.#url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = open(this.#url, {
      method,
      agent: this.#agent,
      headers: { ...this.#headers, ...headers },
    });
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      request.on("response", resolve);
      request.on("error", (error) =>
        reject(new Error(`Could not reach ${this.address}: ${reasonOf(error)}`, { cause: error })),
      );
      request.on("close", () => reject(new Error(`${this.address} closed the connection without an answer`)));
    });
    request.end(body);
    return { request, response };
  }

  close(): void {
    this.#agent.destroy();
  }
}
