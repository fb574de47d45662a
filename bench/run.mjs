// npm run bench -- [--rounds N] [--calls N] [--only TEXT] [--profile]
//
// CPU time of the server process for one `tools/call` of an echo. Every subject is a process, loaded by a driver
// process of its own whose cost does not count. Rounds are interleaved, so that a slow moment of the machine falls on
// all; the table shows medians.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { printProfile } from "./profile.mjs";
import { subjects } from "./subjects.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    calls: { type: "string", default: "5000" },
    only: { type: "string", default: "" },
    profile: { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds);
const calls = Number(values.calls);
const concurrency = 16;

const chosen = subjects.filter(
  (subject) =>
    subject.bare || `${subject.door} ${subject.name}`.toLowerCase().includes(values.only.toLowerCase()),
);
const drivers = await Promise.all(chosen.map(startDriver));
try {
  // Warm: the compiler has seen the code before anything is counted.
  for (const driver of drivers) await driver.order({ calls: calls * 2 });
  for (let round = 0; round < rounds; round++)
    for (const driver of drivers) driver.samples.push((await driver.order({ calls })).microsPerCall);
  printTable(drivers);
  if (values.profile) await profileToolgate(drivers);
} finally {
  for (const driver of drivers) driver.process.disconnect();
}

async function startDriver(subject) {
  const path = fileURLToPath(new URL("driver.mjs", import.meta.url));
  const process = fork(path, [JSON.stringify({ ...subject, concurrency })]);
  const gone = once(process, "exit").then(([code]) => {
    throw new Error(`${subject.door} ${subject.name} ended with ${code}`);
  });
  // It is awaited beside each answer; at the end nobody listens any more.
  gone.catch(() => {});
  const answer = async () => {
    const [message] = await Promise.race([once(process, "message"), gone]);
    if (message.error) throw new Error(message.error);
    return message;
  };
  await answer();
  const order = (message) => {
    process.send(message);
    return answer();
  };
  return { subject, process, order, samples: [] };
}

function printTable(all) {
  console.log(
    `CPU per call of the server process, median of ${rounds} rounds of ${calls} calls, Node ${process.version}\n`,
  );
  console.log(row("", "µs per call", "least", "most", "times bare"));
  for (const { subject, samples } of all) {
    const bare = all.find((other) => other.subject.bare && other.subject.door === subject.door);
    const name = `${subject.door.padEnd(6)} ${subject.name}`;
    const numbers = [median(samples), Math.min(...samples), Math.max(...samples)].map((micros) =>
      micros.toFixed(1),
    );
    console.log(row(name, ...numbers, (median(samples) / median(bare.samples)).toFixed(1)));
  }
}

function row(name, ...cells) {
  return name.padEnd(30) + cells.map((cell) => cell.padStart(12)).join("");
}

function median(samples) {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

async function profileToolgate(all) {
  for (const { subject, order } of all.filter((driver) => driver.subject.program.startsWith("toolgate"))) {
    const { profile } = await order({ calls: calls * 4, profile: true });
    printProfile(`${subject.door} ${subject.name}`, profile);
  }
}
