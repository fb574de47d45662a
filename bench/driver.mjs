// A process of its own for each subject: starts it, sends the load, asks it for the CPU time that it took.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { httpLoad } from "./load/http.mjs";
import { stdioLoad } from "./load/stdio.mjs";

const subject = JSON.parse(process.argv[2]);
const child = spawn(
  process.execPath,
  [fileURLToPath(new URL(`subjects/${subject.program}`, import.meta.url))],
  {
    stdio: ["pipe", "pipe", "inherit", "ipc"],
  },
);
// Whoever ends first takes the other along.
child.on("exit", (code) => process.exit(code ?? 1));
process.on("disconnect", () => child.kill("SIGKILL"));

const [{ ready }] = await once(child, "message");
const open = ready.url ? httpLoad : stdioLoad;
const run = await open({ ...ready, ...subject, child });

process.on("message", (order) => void carryOut(order).catch(fail));
process.send({ ready: true });

async function carryOut({ calls, profile }) {
  if (profile) await ask("startProfile");
  const before = await ask("cpu");
  await run(calls);
  const after = await ask("cpu");
  const taken = profile ? await ask("stopProfile") : undefined;
  process.send({ microsPerCall: (after.cpu - before.cpu) / calls, profile: taken?.profile });
}

async function ask(question) {
  child.send(question);
  const [answer] = await once(child, "message");
  return answer;
}

function fail(error) {
  process.send({ error: `${subject.name}: ${error.message}` });
}
