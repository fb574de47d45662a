import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "node_modules/.cache/toolgate-bench");

/** Writes a V8 CPU profile for a profile viewer, and prints the functions that took most time themselves. */
export function printProfile(title, profile) {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${title.replace(/\W+/g, "-")}.cpuprofile`);
  writeFileSync(path, JSON.stringify(profile));
  console.log(`\n${title}: self time\n(all of it: ${path})\n`);
  const busy = selfTimes(profile).filter(({ name }) => !["(idle)", "(program)"].includes(name));
  const total = busy.reduce((sum, { micros }) => sum + micros, 0);
  for (const { name, micros } of busy.slice(0, 30))
    console.log(`${((micros / total) * 100).toFixed(1).padStart(6)} %  ${name}`);
}

function selfTimes({ nodes, samples, timeDeltas }) {
  const names = new Map(nodes.map((node) => [node.id, nameOf(node.callFrame)]));
  const totals = new Map();
  samples.forEach((id, index) => {
    const name = names.get(id);
    totals.set(name, (totals.get(name) ?? 0) + timeDeltas[index]);
  });
  return [...totals].map(([name, micros]) => ({ name, micros })).toSorted((a, b) => b.micros - a.micros);
}

function nameOf({ functionName, url, lineNumber }) {
  const name = functionName || "(anonymous)";
  if (url === "") return name;
  const file = url
    .replace("file://", "")
    .replace(root, "")
    .replace(/^.*node_modules\//, "");
  return `${name}  ${file}:${lineNumber + 1}`;
}
