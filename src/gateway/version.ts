import { readFileSync } from "node:fs";

/** Of this package, from its own description, which lies two folders up in the source and in the build. */
export function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
