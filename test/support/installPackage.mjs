import { execFile } from "node:child_process";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

// Plain JavaScript, since programs use it that no test runner compiles.

const run = promisify(execFile);
const cache = fileURLToPath(new URL("../../node_modules/.cache/toolgate-tools", import.meta.url));

export async function installPackage(wanted) {
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

async function isInstalled(folder, { name, version }) {
  try {
    const manifest = await readFile(join(folder, "node_modules", name, "package.json"), "utf8");
    return JSON.parse(manifest).version === version;
  } catch {
    return false;
  }
}

function npmInstall(prefix, spec) {
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
function reason({ stderr = "", message }) {
  const lines = stderr.split("\n").filter((line) => line.startsWith("npm error"));
  return lines.slice(0, 3).join("; ") || message;
}
