import { fileURLToPath } from "node:url";

/** The build that is tested; `TOOLGATE_DIST`, a folder's URL that ends in a slash, names another one. */
const dist = process.env.TOOLGATE_DIST ?? new URL("../../dist/", import.meta.url);

/** The program `toolgate`. */
export const cliPath = fileURLToPath(new URL("cli/main.js", dist));

export function load(path) {
  return import(new URL(path, dist).href);
}
