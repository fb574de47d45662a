// npm run conformance -- [--only NAME,...] [--no-build]
//
// The MCP conformance suite against Toolgate: as a server (alone, and as a gateway in front of others) and as a client.
// After it the bridge: what clients of both eras get of upstreams of both. Prints one table, and why for each cell that
// is not just "ok". Ends with 1 if something failed: a scored scenario that exceptions.json does not name, or a cell of
// the bridge; or if a scenario always passes that it names.
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bridgeSections } from "./bridge.mjs";
import { columns } from "./columns.mjs";
import { Programs } from "./programs.mjs";
import { countCells, explain, formatTable, judge, readExceptions, toCell } from "./results.mjs";
import { openSuite } from "./suite.mjs";

const modern = "2026-07-28";
const revisions = [modern, "2025-11-25"];
/** Servers that are tested at the same time. */
const parallel = 2;

const root = fileURLToPath(new URL("../..", import.meta.url));
const say = (text) => process.stdout.write(`${text}\n`);

const { values } = parseArgs({
  options: { only: { type: "string" }, build: { type: "boolean", default: true } },
  allowNegative: true,
});
const suiteNames = [...columns.map(({ name }) => name), "client"];
const names = [...suiteNames, "bridge"];
const wanted = values.only?.split(",") ?? names;

const scratch = await mkdtemp(join(tmpdir(), "toolgate-conformance-"));
try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`${error.message}\n`);
} finally {
  await rm(scratch, { recursive: true, force: true });
}

async function main() {
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new Error(`--only: there is no "${unknown}". There are ${names.join(", ")}.`);
  if (values.build) execFileSync("npm", ["run", "build"], { cwd: root, stdio: ["ignore", 2, 2] });
  const sections = [...(await suiteSections()), ...(await bridged())];
  say(`${formatTable(sections)}\n\n${explain(sections)}\n`);
  const { passed, failed, excepted } = countCells(sections);
  if (excepted > 0) say(`${excepted} failed as test/conformance/exceptions.json says`);
  say(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

async function bridged() {
  if (!wanted.includes("bridge")) return [];
  const folder = await mkdtemp(join(scratch, "bridge-"));
  return bridgeSections(folder);
}

async function suiteSections() {
  if (!suiteNames.some((name) => wanted.includes(name))) return [];
  const suite = await openSuite();
  const requirements = new Map();
  for (const revision of revisions) requirements.set(revision, await suite.requirements(revision));
  const file = await readFile(new URL("exceptions.json", import.meta.url), "utf8");
  const exceptions = readExceptions(JSON.parse(file), requirements.get(modern).server);

  const servers = columns.filter(({ name }) => wanted.includes(name));
  const jobs = servers.map((column) => () => testServer(suite, column));
  if (wanted.includes("client")) jobs.push(() => testClient(suite));
  const results = new Map(await inParallel(jobs));

  return revisions.flatMap((revision) =>
    sectionsOf(revision, requirements.get(revision), { results, exceptions }),
  );
}

/** Runs both revisions against one server. Resolves to its column's name and its results by revision. */
async function testServer(suite, { name, open }) {
  const folder = await mkdtemp(join(scratch, `${name}-`));
  // Its own state and home; the rest of the environment is what a user would have.
  const env = { ...process.env, HOME: folder, XDG_STATE_HOME: folder };
  const programs = new Programs({ cwd: folder, env });
  try {
    const url = await open(programs, folder);
    return [name, await runAll(suite, { leg: "server", target: ["--url", url], folder })];
  } catch (error) {
    say(`${name}: there is nothing to test. ${error.message}\n`);
    return [name, new Map()];
  } finally {
    await programs.stop();
  }
}

async function testClient(suite) {
  const folder = await mkdtemp(join(scratch, "client-"));
  const target = [
    "--command",
    `${process.execPath} ${fileURLToPath(new URL("client.mjs", import.meta.url))}`,
  ];
  return ["client", await runAll(suite, { leg: "client", target, folder })];
}

async function runAll(suite, { folder, ...run }) {
  const results = new Map();
  for (const revision of revisions) {
    const output = join(folder, revision);
    await mkdir(output);
    results.set(revision, await suite.run({ ...run, revision, folder: output }));
  }
  return results;
}

/** What was scored of a revision, and what was not. */
function sectionsOf(revision, { server, client, unscored }, { results, exceptions }) {
  const section = (leg, scored, scenarios) => {
    const shown = [...results.keys()].filter((name) => (name === "client") === (leg === "client"));
    const cell = (column, scenario) => {
      // Only a legacy server behind the gateway has any: its requests cannot say all that 2026-07-28 wants.
      const exception = column === "legacy" && revision === modern ? exceptions.get(scenario) : undefined;
      return toCell(judge(results.get(column).get(revision)?.get(scenario), leg), { scored, exception });
    };
    return {
      title: `${revision} ${leg}${scored ? "" : ", not scored"}`,
      columns: shown,
      rows: scenarios.map((name) => ({ name, cells: shown.map((column) => cell(column, name)) })),
    };
  };
  const others = (leg) => unscored.filter((entry) => entry.leg === leg).map(({ scenario }) => scenario);
  return [
    section("server", true, server),
    section("client", true, client),
    section("server", false, others("server")),
    section("client", false, others("client")),
  ].filter(({ columns: shown, rows }) => shown.length > 0 && rows.length > 0);
}

/** Runs jobs, `parallel` of them at a time. Resolves to their results, in their order. */
async function inParallel(jobs) {
  const results = [];
  const waiting = jobs.entries();
  const work = async () => {
    for (const [at, job] of waiting) results[at] = await job();
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return results;
}
