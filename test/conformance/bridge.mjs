import { edges } from "./bridge/edges.mjs";
import { features } from "./bridge/features.mjs";
import { openBridge } from "./bridge/gateway.mjs";
import { questions } from "./bridge/questions.mjs";
import { Run } from "./bridge/run.mjs";

export { openBridge };

const eras = ["legacy", "modern"];

/** How the gateway reaches its upstreams. */
const transports = ["stdio", "http"];

/** Who speaks which era on the two sides of the gateway. */
export const cells = transports.flatMap((transport) =>
  eras.flatMap((client) => eras.map((upstream) => ({ client, upstream, transport }))),
);

const checks = [...features, ...questions, ...edges];

/** What there is to check in a cell. */
export function checksOf(cell) {
  return checks.filter(({ only }) => only?.(cell) ?? true);
}

/** Rejects with what went wrong. */
export function runCheck(bridge, cell, check) {
  return Run.check(bridge, cell, check);
}

/** Runs all checks in all cells. Resolves to sections as those of `formatTable`, one a transport. Never rejects. */
export async function bridgeSections(folder) {
  let bridge;
  try {
    bridge = await openBridge(folder);
  } catch (error) {
    return [{ title: "bridge", columns: ["opens"], rows: [{ name: "gateway", cells: [failed(error)] }] }];
  }
  try {
    const sections = [];
    for (const transport of transports) sections.push(await sectionOf(bridge, transport));
    return sections;
  } finally {
    await bridge.stop();
  }
}

async function sectionOf(bridge, transport) {
  const columns = cells.filter((cell) => cell.transport === transport);
  const rows = checks.map(({ name }) => ({ name, cells: [] }));
  for (const cell of columns)
    for (const [at, check] of checks.entries()) rows[at].cells.push(await cellOf(bridge, cell, check));
  return { title: `bridge, client-upstream, ${transport}`, columns: columns.map(shortName), rows };
}

function shortName({ client, upstream }) {
  return `${client.slice(0, 3)}-${upstream.slice(0, 3)}`;
}

async function cellOf(bridge, cell, check) {
  if (!checksOf(cell).includes(check)) return { mark: "-", counts: "unscored", messages: [] };
  try {
    await runCheck(bridge, cell, check);
    return { mark: "ok", counts: "passed", messages: [] };
  } catch (error) {
    return failed(error);
  }
}

function failed({ message }) {
  return { mark: "FAIL", counts: "failed", messages: message.split("\n").filter((line) => line !== "") };
}
