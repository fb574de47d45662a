import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** The command line, as built. */
export const cliPath = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** The entry script of a reference server from the development dependencies. Each takes its transport or folders as arguments. */
export function serverScript(name: "everything" | "filesystem" | "memory"): string {
  return fileURLToPath(
    new URL(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url),
  );
}
