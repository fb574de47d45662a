import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { PassThrough, type Readable, type Writable } from "node:stream";
import type { Child, ExitStatus } from "../../core/spawn.ts";
import { settlesWithin } from "../settlesWithin.ts";
import type { Tree } from "./tree.ts";

const defaultGraceMs = 2000;

export class RunningChild implements Child {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<ExitStatus>;
  readonly #tree: Tree;
  #hasExited = false;
  #stopping: Promise<void> | undefined;

  constructor(process: ChildProcessWithoutNullStreams, pid: number, tree: Tree) {
    this.pid = pid;
    this.stdin = process.stdin;
    this.stdout = process.stdout;
    this.stderr = process.stderr;
    this.#tree = tree;
    tree.started(pid);
    // A write that comes too late fails; `exited` tells why.
    process.stdin.on("error", () => {});
    this.exited = new Promise((resolve) => {
      process.once("exit", (code, signal) => {
        this.#hasExited = true;
        void tree.ended().then(() => resolve({ code, signal }));
      });
    });
  }

  stop(graceMs = defaultGraceMs): Promise<void> {
    return (this.#stopping ??= this.#stop(graceMs));
  }

  async #stop(graceMs: number): Promise<void> {
    this.stdin.end();
    if (await settlesWithin(graceMs, this.exited)) return;
    this.#terminate();
    if (await settlesWithin(graceMs, this.exited)) return;
    if (!this.#hasExited) this.#tree.kill();
    await this.exited;
  }

  #terminate(): void {
    // Once it has exited, its id may be another's.
    if (this.#hasExited) return;
    try {
      process.kill(-this.pid, "SIGTERM");
    } catch {
      // It went by itself in the meantime.
    }
  }
}

/** A child that never ran. `failure` is the arguments of the `error` event that says why. */
export function failedChild(command: string, failure: Promise<readonly unknown[]>): Child {
  const exited = failure.then(([cause]): never => {
    throw new Error(`Cannot start "${command}": ${(cause as Error).message}`, { cause });
  });
  // Whoever looks at `exited` sees it; whoever does not must not bring the process down.
  exited.catch(() => {});
  const output = (): Readable => new PassThrough().end();
  return {
    pid: undefined,
    stdin: new PassThrough().resume(),
    stdout: output(),
    stderr: output(),
    exited,
    stop: async () => {},
  };
}
