/*
 * The program of the reaper. It runs in a process of its own, from the text of the functions in this file: they
 * use nothing from outside it. (A file beside this one would have another name before the build.)
 */

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Where the system does not tell it, the group. */
  readonly session: number;
  /** The environment holds the marker that was looked for. Never where the system does not show it. */
  readonly marked: boolean;
}

/** The text to run with `node -e`. `marker` is in the environment of whatever is to be ended. */
export function reaperProgram(marker: string): string {
  const functions = [readProcess, listProcesses, members, sweep, reap];
  return `${functions.join("\n")}\nreap(${JSON.stringify(marker)});`;
}

/** One process of Linux, from `/proc` (proc_pid_stat(5)). Undefined if it is gone, or a zombie, which nobody can kill. */
function readProcess(pid: number, marker: string): ProcessEntry | undefined {
  const { readFileSync } = process.getBuiltinModule("node:fs");
  const read = (name: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, "latin1");
    } catch {
      return "";
    }
  };
  const stat = read("stat");
  // The second field is the command in parentheses, and may itself hold anything.
  const [state, parent, group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (state === "" || state === "Z" || state === "X") return undefined;
  const marked = read("environ").includes(marker);
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), marked };
}

export function listProcesses(marker: string): ProcessEntry[] {
  if (process.platform === "linux") {
    const { readdirSync } = process.getBuiltinModule("node:fs");
    const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
    return pids.map((pid) => readProcess(pid, marker)).filter((entry) => entry !== undefined);
  }
  const { execFileSync } = process.getBuiltinModule("node:child_process");
  const rows = execFileSync("/bin/ps", ["-A", "-o", "pid=,ppid=,pgid=,stat="], { encoding: "latin1" });
  return rows.split("\n").flatMap((row) => {
    const [pid, parent, group, state] = row.trim().split(/\s+/);
    if (!pid || state === undefined || state.startsWith("Z")) return [];
    const ids = { pid: Number(pid), parent: Number(parent), group: Number(group) };
    return [{ ...ids, session: ids.group, marked: false }];
  });
}

/** Whatever is marked, in a leader's group or session, or descends from one that is. */
export function members(all: readonly ProcessEntry[], leaders: ReadonlySet<number>): Set<number> {
  const found = new Set<number>();
  const belongs = (one: ProcessEntry): boolean =>
    one.marked || leaders.has(one.group) || leaders.has(one.session) || found.has(one.parent);
  // Ids say nothing of the order of birth, so a descendant may come first: look until nothing is added.
  for (let before = -1; before < found.size;) {
    before = found.size;
    for (const one of all) if (belongs(one)) found.add(one.pid);
  }
  found.delete(process.pid);
  return found;
}

/** Kills until `passes` looks in a row find nobody; gives up on what does not die in 10 s. */
async function sweep(marker: string, leaders: ReadonlySet<number>, passes: number): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (let clean = 0; Date.now() < deadline;) {
    const found = members(listProcesses(marker), leaders);
    for (const pid of found) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It went by itself, or belongs to somebody else now.
      }
    }
    clean = found.size === 0 ? clean + 1 : 0;
    if (clean === passes) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/**
 * Reads lines: `add N PID` (tree N has this leader), `end N` (end it; answered with `N`). When the input ends,
 * whoever held its other side is gone: everything is ended.
 */
function reap(marker: string): void {
  process.title = "toolgate-reaper";
  // A supervisor's SIGTERM goes to every process of a service, also to this one. Its end is that of its input.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
  process.stdout.on("error", () => {});
  const leaders = new Map<string, number>();
  const obey = async (line: string): Promise<void> => {
    const [verb, tree = "", pid] = line.split(" ");
    if (verb === "add") leaders.set(tree, Number(pid));
    if (verb !== "end") return;
    const leader = leaders.get(tree);
    await sweep(`${marker}${tree}/`, new Set(leader === undefined ? [] : [leader]), 1);
    leaders.delete(tree);
    process.stdout.write(`${tree}\n`);
  };
  let rest = "";
  process.stdin.setEncoding("latin1").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) void obey(line);
  });
  // Several looks: a child caught between fork and exec shows the environment of its parent.
  process.stdin.on(
    "close",
    () => void sweep(marker, new Set(leaders.values()), 5).then(() => process.exit()),
  );
  process.stdout.write("ready\n");
}
