import { Worker } from "node:worker_threads";

// Errors are expected: the other side replaces and removes the same names.
const program = `
  const { renameSync, symlinkSync, unlinkSync } = require("node:fs");
  const { parentPort, workerData: { name, target, flag } } = require("node:worker_threads");
  const attempt = (step) => { try { step(); } catch {} };
  const round = () => {
    attempt(() => renameSync(name, name + ".parked"));
    attempt(() => symlinkSync(target, name));
    attempt(() => unlinkSync(name));
    attempt(() => renameSync(name + ".parked", name));
  };
  round();
  parentPort.postMessage("swapping");
  while (Atomics.load(flag, 0) === 0) round();
`;

/**
 * Swaps what is at `name` for a symbolic link to `target` and back, as fast as a thread can, while `race` runs. At
 * the end the original is back at `name`.
 */
export async function whileSwapping(
  { name, target }: { name: string; target: string },
  race: () => Promise<void>,
): Promise<void> {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(program, { eval: true, workerData: { name, target, flag } });
  const exited = new Promise((resolve) => worker.once("exit", resolve));
  await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  try {
    await race();
  } finally {
    Atomics.store(flag, 0, 1);
    await exited;
  }
}
