// node client.mjs URL
//
// The client that the conformance suite starts: Toolgate's own, as the gateway connects to its upstreams. Which scenario
// is played, and what it tells the client, comes by environment. Ends with 1 if anything went wrong, as some scenarios want.
import { callTools, echoSchema, listTools, useEverything } from "./clientPlays.mjs";
import { credentialsFor } from "./clientOAuth.mjs";
import { load } from "./dist.mjs";

const { connectUpstream } = await load("mcp/client/connect.js");
const { dialHttp } = await load("transports/http/dial.js");
const { systemClock } = await load("core/systemClock.js");

/** Scenarios in which another thing is done than to use all that the server has. */
const plays = {
  // Their tools are only to be listed, and have no answer.
  "json-schema-ref-no-deref": listTools,
  "json-schema-2020-12-preservation": echoSchema,
  "http-custom-headers": async (connection) => {
    // What goes into headers is in the list.
    await listTools(connection);
    await callTools(connection, context.toolCalls);
  },
};

const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const url = process.argv.at(-1);

try {
  const connection = await connectUpstream({
    namespace: "suite",
    dial: dialHttp({ url, credentials: await credentialsFor(url, context) }),
    clock: systemClock,
    log: (level, message) => process.stderr.write(`${level} ${message}\n`),
    clientInfo: { name: "toolgate", version: "0.0.0" },
    // The suite runs many scenarios at a time, on whatever machine.
    probeMs: 20_000,
  });
  await (plays[scenario] ?? useEverything)(connection).finally(() => connection.close());
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
