// node serveLegacy.mjs --stdio | --http PORT
//
// Serves `everythingLegacy.mjs`: on standard input and output, or with sessions at http://127.0.0.1:PORT/mcp, which is
// printed as one line of JSON, { "url" }, once it listens.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createDescription } from "./description.mjs";
import { EventLog } from "./eventLog.mjs";
import { createEverythingLegacy } from "./everythingLegacy.mjs";

const { values } = parseArgs({ options: { stdio: { type: "boolean" }, http: { type: "string" } } });
const description = createDescription();
if (values.stdio) await createEverythingLegacy(description).connect(new StdioServerTransport());
else await serveHttp(Number(values.http ?? 0));

async function serveHttp(wanted) {
  const sessions = new Map();
  const http = createServer((request, response) => void handle(request, response));
  await new Promise((resolve) => http.listen(wanted, "127.0.0.1", resolve));
  const { port } = http.address();
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/mcp` })}\n`);

  async function handle(request, response) {
    const id = request.headers["mcp-session-id"];
    const transport = id === undefined ? await open() : sessions.get(id);
    if (transport) await transport.handleRequest(request, response);
    else response.writeHead(404).end();
  }

  /** A transport is one session; one whose first request does not initialize refuses it, and is forgotten. */
  async function open() {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
      eventStore: new EventLog(),
      retryInterval: 100,
      enableDnsRebindingProtection: true,
      allowedHosts: [`127.0.0.1:${port}`, `localhost:${port}`],
      allowedOrigins: [`http://127.0.0.1:${port}`, `http://localhost:${port}`],
    });
    await createEverythingLegacy(description).connect(transport);
    return transport;
  }
}
