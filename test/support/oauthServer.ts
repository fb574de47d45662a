import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { FakeOAuth, type FakeOAuthOptions } from "./fakeOAuth.ts";

export interface OAuthServerOptions extends Omit<FakeOAuthOptions, "issuer" | "server"> {
  /** Methods that need no token. */
  readonly freely?: readonly string[] | "all";
}

/** A real MCP server that wants a token, with its own authorization server at the same origin. */
export interface OAuthServer {
  /** Of MCP. */
  readonly url: string;
  readonly issuer: string;
  readonly oauth: FakeOAuth;
  close(): Promise<void>;
}

const results: Readonly<Record<string, object>> = {
  "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
  "tools/list": { tools: [{ name: "hello", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "hello" }] },
};

export async function serveOAuth(options: OAuthServerOptions = {}): Promise<OAuthServer> {
  const { freely = [], ...rest } = options;
  let oauth = new FakeOAuth();
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `${issuer}/mcp`;
  oauth = new FakeOAuth({ ...rest, issuer, server: url });

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const text = Buffer.concat((await incoming.toArray()) as Buffer[]).toString();
    if (incoming.url === "/mcp") return answerMcp(incoming, text, outgoing);
    const { method = "GET", headers } = incoming;
    const type = headers["content-type"] ?? "text/plain";
    const body = method === "POST" ? { body: text, headers: { "content-type": type } } : {};
    const found = await oauth.answer(new Request(issuer + incoming.url, { method, ...body }));
    outgoing.writeHead(found.status, Object.fromEntries(found.headers)).end(await found.text());
  }

  function answerMcp({ headers }: IncomingMessage, text: string, outgoing: ServerResponse): void {
    const { id, method } = JSON.parse(text) as { id?: number; method: string };
    const free = freely === "all" || freely.includes(method);
    if (!free && !oauth.accepts(headers.authorization)) {
      outgoing.writeHead(401, { "www-authenticate": 'Bearer scope="hello"' }).end();
      return;
    }
    const result = { resultType: "complete", ttlMs: 0, cacheScope: "private", ...results[method] };
    outgoing
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }

  return {
    url,
    issuer,
    oauth,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
