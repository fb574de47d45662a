import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { bind } from "../bind.ts";

export interface RedirectListener {
  /** `http://127.0.0.1:PORT/callback` (RFC 8252, section 7.3). */
  readonly redirectUrl: string;
  /** Resolves with the parameters of the first request that comes back with this `state`. */
  answer(state: string): Promise<URLSearchParams>;
  /** What still waits for an answer waits for ever. */
  close(): Promise<void>;
}

const path = "/callback";

/**
 * Waits on this machine for a browser that an authorization server sends back. Rejects with an `Error` for a person,
 * with the system's `code`, if it cannot listen there; port 0 is any free one.
 */
export async function listenForRedirect(port: number): Promise<RedirectListener> {
  const waiting = new Map<string, (parameters: URLSearchParams) => void>();
  const server = createServer((request, response) => {
    const parameters = parametersOf(request);
    const state = parameters?.get("state") ?? "";
    const found = waiting.get(state);
    // Any page may send a browser here: what nobody waits for changes nothing.
    if (!parameters || !found) return say(response, 404, "Nobody waits for this.");
    waiting.delete(state);
    // By then the page is out, and what holds the connection open may be ended.
    response.on("close", () => found(parameters));
    return say(response, 200, "That was all here: the terminal tells how it went. This page can be closed.");
  });
  const bound = await bind(server, { host: "127.0.0.1", port }, "--port");
  return {
    redirectUrl: `http://127.0.0.1:${bound}${path}`,
    answer: (state) => new Promise((resolve) => waiting.set(state, resolve)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Browsers open connections in advance.
        server.closeAllConnections();
      }),
  };
}

function parametersOf({ method, url = "" }: IncomingMessage): URLSearchParams | undefined {
  const [target, query = ""] = url.split(/\?(.*)/s);
  return method === "GET" && target === path ? new URLSearchParams(query) : undefined;
}

/** The address holds a code: it is not to be kept or passed on. */
function say(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      connection: "close",
    })
    .end(`${text}\n`);
}
