import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cliPath } from "../dist.mjs";
import { Programs } from "../programs.mjs";

const path = (file) => fileURLToPath(new URL(file, import.meta.url));
const servers = {
  legacy: path("../../everything/serveLegacy.mjs"),
  modern: path("../../everything/serve.mjs"),
};

const tokens = { ada: "the-token-of-ada-0001", grace: "the-token-of-grace-02" };

/**
 * Starts `toolgate serve` in front of a legacy and a modern server, each over stdio and over HTTP, and once more to be
 * ended. `folder` is for its state. Resolves to the gateway's address and to how to stop all of it.
 */
export async function openBridge(folder) {
  const programs = new Programs({
    cwd: folder,
    env: { ...process.env, HOME: folder, XDG_STATE_HOME: folder },
  });
  try {
    const base = await start(programs, folder);
    return {
      tokens,
      /** `null`: everything under prefixed names. */
      urlOf: (namespace) => (namespace === null ? base : `${base}/${namespace}`),
      stop: () => programs.stop(),
    };
  } catch (error) {
    await programs.stop();
    throw error;
  }
}

async function start(programs, folder) {
  const mcpServers = {};
  for (const [era, server] of Object.entries(servers)) {
    const stdio = { command: process.execPath, args: [server, "--stdio"] };
    const url = await programs.start([server, "--http", "0"], /"url":"([^"]+)"/);
    Object.assign(mcpServers, {
      [`${era}_stdio`]: stdio,
      [`${era}_mortal`]: stdio,
      [`${era}_http`]: { url },
    });
  }
  const principals = Object.fromEntries(Object.entries(tokens).map(([name, token]) => [name, { token }]));
  const config = join(folder, "bridge.json");
  await writeFile(config, JSON.stringify({ mcpServers, principals }));
  const ready = Object.keys(mcpServers).map((namespace) => `(?=[^]*^ready +${namespace}:)`);
  const announces = new RegExp(`serves MCP on (http:\\S+)${ready.join("")}`, "m");
  return programs.start([cliPath, "serve", "--http", "0", "--config", config], announces);
}
