import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

interface Process {
  readonly pid: number;
  readonly parent: number;
  /** One letter of proc(5): `R`, `S`, ..., `Z` for a zombie. */
  readonly state: string;
}

/** The ids of a process and all its descendants that run now, itself first. Linux only: it reads `/proc`. */
export function processTree(pid: number): number[] {
  const processes = running();
  const tree = processes.some((process) => process.pid === pid) ? [pid] : [];
  // `tree` grows while it is walked.
  for (const parent of tree)
    tree.push(...processes.filter((process) => process.parent === parent).map((process) => process.pid));
  return tree;
}

/** False for a process that has ended, also while nobody has collected it. */
export function isRunning(pid: number): boolean {
  const process = read(pid);
  return process !== undefined && process.state !== "Z" && process.state !== "X";
}

/**
 * Looks every 20 ms until the predicate holds. For what sends no event, such as the end of a process that is no
 * child of this one. Rejects after `withinMs`.
 */
export async function waitUntil(predicate: () => boolean, what: string, withinMs = 10_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!predicate()) {
    if (performance.now() > deadline) throw new Error(`After ${withinMs} ms still not: ${what}`);
    await pause(20);
  }
}

function running(): Process[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => read(Number(pid)) ?? []).filter(({ state }) => state !== "Z" && state !== "X");
}

function read(pid: number): Process | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  // The name, in parentheses, may hold spaces and parentheses itself.
  const [state = "", parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { pid, parent: Number(parent), state };
}
