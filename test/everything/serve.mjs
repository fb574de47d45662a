// node serve.mjs --stdio | --http PORT
//
// Serves the provider of `everything.mjs` by itself: on standard input and output, or at http://127.0.0.1:PORT/mcp,
// which is printed as one line of JSON, { "url" }, once it listens.
import { parseArgs } from "node:util";
import { createCaller, McpServerShell, Mount, systemClock, ToolError } from "toolgate";
import { listenHttp, noAuth, serveStdio } from "toolgate/transports";
import { createEverything } from "./everything.mjs";

const { values } = parseArgs({ options: { stdio: { type: "boolean" }, http: { type: "string" } } });
const log = (level, message) => process.stderr.write(`${level} ${message}\n`);
const resolver = new Mount(createEverything({ ToolError }), { log });
const shell = new McpServerShell({
  caller: createCaller({ resolver, middleware: [], log }),
  serverInfo: { name: "everything", version: "1.0.0" },
  log,
});
if (values.stdio) serveStdio(shell, { log });
else {
  const { url } = await listenHttp({
    host: "127.0.0.1",
    port: Number(values.http ?? 0),
    route: (path) => (path === "/mcp" ? shell : undefined),
    authenticate: noAuth,
    clock: systemClock,
    log,
  });
  process.stdout.write(`${JSON.stringify({ url: `${url}/mcp` })}\n`);
}
