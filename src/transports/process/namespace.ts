import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { locate } from "./locate.ts";
import type { StartLine, Tree, TreeKeeper } from "./tree.ts";

const probeMs = 5000;

/**
 * Gives each tree a PID namespace: its first process takes all others with it. `setpriv` has the kernel kill the
 * wrapper when this process ends, and `--kill-child` has it kill the namespace when the wrapper does
 * (prctl(2) PR_SET_PDEATHSIG, pid_namespaces(7)). Rejects with the reason where that does not work.
 *
 * The command is process 1 there: signals that it does not handle do nothing to it, SIGKILL from outside apart.
 * The wrapper holds its streams too, so that one which the command closes ends when the command does.
 */
export async function createNamespaceKeeper(): Promise<TreeKeeper> {
  if (process.platform !== "linux") throw new Error(`${process.platform} has no PID namespaces`);
  const wrapper = findWrapper();
  await probe(wrapper);
  return {
    level: "pid-namespace",
    explain:
      "Every child process has a PID namespace of its own: when Toolgate ends, however it ends, " +
      "the kernel ends all that the child has started.",
    plant: (line) => new NamespaceTree(wrapper, line),
    close: async () => {},
  };
}

function findWrapper(): string[] {
  const user = process.getuid?.() === 0 ? [] : ["--user", "--map-current-user"];
  const dieWithParent = [find("setpriv"), "--pdeathsig", "KILL", "--"];
  return [
    ...dieWithParent,
    find("unshare"),
    ...user,
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
    "--",
  ];
}

/** Absolute, from our own PATH: the child's may not have it. */
function find(command: string): string {
  try {
    return locate({ command, env: { PATH: process.env["PATH"] ?? "" } });
  } catch (error) {
    throw new Error(`"${command}", a part of util-linux, is not on the PATH.`, { cause: error });
  }
}

async function probe([file = "", ...args]: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)(file, [...args, "true"], { timeout: probeMs, killSignal: "SIGKILL" });
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new Error(stderr?.trim() || message, { cause: error });
  }
}

class NamespaceTree implements Tree {
  readonly line: StartLine;
  #wrapper = 0;

  constructor([file = "", ...args]: readonly string[], line: StartLine) {
    this.line = { file, args: [...args, line.file, ...line.args], env: line.env };
  }

  started(pid: number): void {
    this.#wrapper = pid;
  }

  /**
   * Kills the namespace's first process, not its wrapper: the kernel lets that one go only after all others,
   * so that the wrapper's exit says that nothing is left (pid_namespaces(7)).
   */
  kill(): void {
    const first = firstChild(this.#wrapper);
    try {
      process.kill(first ?? -this.#wrapper, "SIGKILL");
    } catch {
      // It went by itself in the meantime.
    }
  }

  async ended(): Promise<void> {}
}

/** Undefined while the wrapper has not started the command yet. */
function firstChild(pid: number): number | undefined {
  try {
    const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ");
    return first ? Number(first) : undefined;
  } catch {
    return undefined;
  }
}
