import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cliPath } from "./dist.mjs";

const path = (file) => fileURLToPath(new URL(file, import.meta.url));
const own = path("../everything/serve.mjs");
const legacy = path("../everything/serveLegacy.mjs");
const inner = path("inner.mjs");

const announcedUrl = /"url":"([^"]+)"/;

/** An entry of `mcpServers` that starts a program on its standard streams. */
const stdio = (program) => ({ command: process.execPath, args: [program, "--stdio"] });

/**
 * What the suite is run against: `open(programs, folder)` starts it and resolves to the URL of its endpoint. `folder`
 * is empty and its own. In a chain the inner gateway serves one provider under its own names, since the suite calls
 * tools by exact names.
 */
export const columns = [
  { name: "own", open: (programs) => programs.start([own, "--http", "0"], announcedUrl) },
  { name: "gateway", open: gatewayTo(() => stdio(own)) },
  { name: "stdio", open: gatewayTo(() => stdio(inner)) },
  {
    name: "tcp",
    open: gatewayTo(async (programs) => ({ url: await programs.start([inner, "--tcp"], announcedUrl) })),
  },
  {
    name: "ws",
    open: gatewayTo(async (programs) => ({ url: await programs.start([inner, "--ws"], announcedUrl) })),
  },
  { name: "legacy", open: gatewayTo(() => stdio(legacy)) },
];

/** `toolgate serve` in front of one upstream, at the path where that has its own names. */
function gatewayTo(upstream) {
  return async (programs, folder) => {
    const config = join(folder, "toolgate.json");
    const mcpServers = { everything: await upstream(programs) };
    await writeFile(config, JSON.stringify({ mcpServers }));
    const args = [cliPath, "serve", "--http", "0", "--no-auth", "--config", config];
    const url = await programs.start(args, /serves MCP on (http:\S+)[^]*?^ready +everything/m);
    return `${url}/everything`;
  };
}
