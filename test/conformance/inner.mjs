// node inner.mjs --stdio | --tcp | --ws
//
// A gateway in front of the everything server that serves it alone, under its own names: on standard input and output,
// or on a free port of 127.0.0.1, whose URL is printed as one line of JSON, { "url" }, once it listens.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { localPrincipal, systemClock } from "toolgate";
import { createGateway, parseConfig } from "toolgate/gateway";
import { listenTcp, listenWebSocket, noAuth, serveStdio } from "toolgate/transports";

const { values } = parseArgs({
  options: { stdio: { type: "boolean" }, tcp: { type: "boolean" }, ws: { type: "boolean" } },
});
const log = (level, message) => process.stderr.write(`${level} ${message}\n`);
const everything = fileURLToPath(new URL("../everything/serve.mjs", import.meta.url));
const mcpServers = { everything: { command: process.execPath, args: [everything, "--stdio"] } };
const { config } = parseConfig(JSON.stringify({ mcpServers }), { file: "inner.json", env: process.env });
const gateway = await createGateway(config, { log });
gateway.start();
const endpoint = gateway.endpoint("everything");
const socket = { host: "127.0.0.1", port: 0, clock: systemClock, log };
if (values.stdio) {
  await serveStdio(endpoint, { log }).closed;
  await gateway.close();
} else {
  const { url } = values.tcp
    ? await listenTcp({ ...socket, endpoint, authenticate: noAuth })
    : await listenWebSocket({ ...socket, route: () => endpoint, authenticate: () => localPrincipal });
  process.stdout.write(`${JSON.stringify({ url })}\n`);
}
