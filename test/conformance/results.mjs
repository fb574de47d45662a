import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** What the suite appends to a scenario's name: an ISO time with `-` for `:` and `.`. */
const timestamp = /-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/;

/** What the suite wrote below `folder` (`-o`): the checks by scenario. `leg`: `server` or `client`. */
export async function readResults(folder, leg) {
  const files = await readdir(folder, { recursive: true });
  const found = files.filter((file) => basename(file) === "checks.json");
  const entries = await Promise.all(
    found.map(async (file) => {
      const checks = JSON.parse(await readFile(join(folder, file), "utf8"));
      return [scenarioOf(dirname(file), leg), checks];
    }),
  );
  return new Map(entries);
}

/** The scenario whose result is in a folder of that name, relative to the suite's output. */
export function scenarioOf(folder, leg) {
  const name = folder.replaceAll("\\", "/").replace(timestamp, "");
  return leg === "server" ? name.replace(/^server-/, "") : name;
}

/**
 * How a scenario went, and why. The suite's own rules: a warning fails a client and no server, and what is only
 * informed about or skipped fails nobody.
 */
export function judge(checks, leg) {
  if (checks === undefined) return { verdict: "missing", messages: ["The suite gave no result."] };
  const complaints = (status) =>
    checks
      .filter((check) => check.status === status)
      .map(({ id, errorMessage, description }) => `${id}: ${errorMessage ?? description}`);
  const failures = complaints("FAILURE");
  const warnings = complaints("WARNING");
  const messages = [...failures, ...warnings];
  if (failures.length > 0 || (leg === "client" && warnings.length > 0))
    return { verdict: "failed", messages };
  return { verdict: warnings.length > 0 ? "warned" : "passed", messages };
}

const marks = { passed: "ok", warned: "warn", failed: "FAIL", missing: "none" };

/**
 * One cell of the table: what it shows, what it counts as (`passed`, `failed`, `excepted`, or `unscored`), and what has
 * to be said of it. `exception` is why the scenario may fail here. One that `always` fails and passes all the same
 * counts as failed, so that nobody forgets it there.
 */
export function toCell({ verdict, messages }, { scored, exception }) {
  if (!scored) return { mark: marks[verdict], counts: "unscored", messages: [] };
  const passes = verdict === "passed" || verdict === "warned";
  if (exception && !passes) return { mark: "except", counts: "excepted", messages: [exception.reason] };
  if (!exception?.always) return { mark: marks[verdict], counts: passes ? "passed" : "failed", messages };
  return {
    mark: "stale",
    counts: "failed",
    messages: ["It passes: take its exception out of test/conformance/exceptions.json."],
  };
}

/** Sections of rows of cells as text, aligned. */
export function formatTable(sections) {
  const first = Math.max(
    ...sections
      .flatMap(({ title, rows }) => [title, ...rows.map(({ name }) => name)])
      .map(({ length }) => length),
  );
  const line = (name, cells) => [name.padEnd(first), ...cells.map((cell) => cell.padStart(8))].join(" ");
  return sections
    .map(({ title, columns, rows }) =>
      [
        line(title, columns),
        ...rows.map(({ name, cells }) =>
          line(
            name,
            cells.map(({ mark }) => mark),
          ).trimEnd(),
        ),
      ].join("\n"),
    )
    .join("\n\n");
}

/** A paragraph for each row's cells of which the same has to be said: failures first. */
export function explain(sections) {
  const order = ["failed", "excepted", "passed"];
  return sections
    .flatMap(({ title, columns, rows }) => rows.flatMap((row) => paragraphsOf(title, columns, row)))
    .toSorted((a, b) => order.indexOf(a.counts) - order.indexOf(b.counts))
    .map(({ text }) => text)
    .join("\n");
}

/** Cells that are alike share one. */
function paragraphsOf(title, columns, { name, cells }) {
  const alike = new Map();
  for (const [at, cell] of cells.entries()) {
    if (cell.messages.length === 0) continue;
    const key = JSON.stringify(cell);
    alike.set(key, { cell, where: [...(alike.get(key)?.where ?? []), columns[at]] });
  }
  return [...alike.values()].map(({ cell: { mark, counts, messages }, where }) => ({
    counts,
    text: [`${mark} ${name} (${title}: ${where.join(", ")})`, ...messages].join("\n    "),
  }));
}

/** How many cells count as what. */
export function countCells(sections) {
  const counts = { passed: 0, failed: 0, excepted: 0, unscored: 0 };
  for (const cell of sections.flatMap(({ rows }) => rows.flatMap(({ cells }) => cells)))
    counts[cell.counts] += 1;
  return counts;
}

/**
 * The exceptions by scenario, of what `exceptions.json` holds: reasons by scenarios that `always` fail, and by those
 * that do so `sometimes`. Throws an `Error` for a scenario that is not scored: nothing would ever tell that it is stale.
 */
export function readExceptions({ always, sometimes }, scored) {
  const exceptions = new Map();
  for (const [name, reason] of Object.entries(sometimes)) exceptions.set(name, { reason, always: false });
  for (const [name, reason] of Object.entries(always)) exceptions.set(name, { reason, always: true });
  for (const name of exceptions.keys())
    if (!scored.includes(name))
      throw new Error(`test/conformance/exceptions.json: there is no scored scenario "${name}".`);
  return exceptions;
}
