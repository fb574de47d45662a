import { spawn, type ChildProcessByStdio } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { reaperProgram } from "./reaper.ts";
import type { StartLine, Tree, TreeKeeper } from "./tree.ts";

/**
 * Its value is a path of `owner/tree/` pairs: where one Toolgate starts another, whoever is asked to end the
 * outer tree finds the inner ones too.
 */
const variable = "TOOLGATE_TREE";

/**
 * Keeps trees by a reaper: a process that outlives this one for as long as it takes to end what is left.
 * Rejects with an `Error` for a person where it does not start. `why` says why there is nothing better.
 */
export async function createReaperKeeper(why: string): Promise<TreeKeeper> {
  const keeper = new ReaperKeeper(why);
  await keeper.start();
  return keeper;
}

class ReaperKeeper implements TreeKeeper {
  readonly level = "reaper";
  readonly explain: string;
  readonly #marker = `/${randomUUID()}/`;
  /** The leaders of the trees that have not ended. */
  readonly #leaders = new Map<string, number>();
  /** The trees that are to end, and who waits for it. */
  readonly #ending = new Map<string, (() => void)[]>();
  #reaper: ChildProcessByStdio<Writable, Readable, null> | undefined;
  #trees = 0;

  constructor(why: string) {
    const escapes =
      process.platform === "linux"
        ? "leaves its session, clears its environment"
        : "leaves its process group";
    this.explain =
      "A reaper process ends what child processes leave behind when Toolgate ends. " +
      `One that ${escapes} and outlives its parent escapes it. Nothing better works here: ${why}`;
  }

  /** Resolves when the reaper listens. One that dies later is replaced. */
  start(): Promise<void> {
    const reaper = spawn(process.execPath, ["-e", reaperProgram(this.#marker)], {
      detached: true,
      stdio: ["pipe", "pipe", "ignore"],
      cwd: "/",
      env: { ...process.env, NODE_OPTIONS: "" },
    });
    this.#reaper = reaper;
    reaper.unref();
    // Its death is told by `exit`.
    reaper.stdin.on("error", () => {});
    for (const [tree, pid] of this.#leaders) this.#tell(`add ${tree} ${pid}`);
    for (const tree of this.#ending.keys()) this.#tell(`end ${tree}`);
    return new Promise((resolve, reject) => {
      let ready = false;
      createInterface(reaper.stdout).on("line", (line) => {
        if (line !== "ready") return this.#ended(line);
        ready = true;
        this.#keepAlive();
        resolve();
      });
      const lost = (why: string): void => {
        if (this.#reaper !== reaper) return;
        if (ready) return void this.start().catch(() => {});
        this.#reaper = undefined;
        for (const tree of this.#ending.keys()) this.#ended(tree);
        reject(new Error(`the reaper process does not start: ${why}`));
      };
      reaper.once("error", (error) => lost(error.message)).once("exit", () => lost("it exited at once"));
    });
  }

  plant(line: StartLine): Tree {
    if (!this.#reaper) throw new Error("the reaper process, which would end it with Toolgate, is gone.");
    const tree = String(++this.#trees);
    const marker = `${process.env[variable] ?? ""}${this.#marker}${tree}/`;
    return {
      line: { ...line, env: { ...line.env, [variable]: marker } },
      started: (pid) => {
        this.#leaders.set(tree, pid);
        this.#tell(`add ${tree} ${pid}`);
      },
      kill: () => void this.#end(tree),
      ended: () => this.#end(tree),
    };
  }

  async close(): Promise<void> {
    const reaper = this.#reaper;
    this.#reaper = undefined;
    if (!reaper) return;
    reaper.ref();
    const exited = once(reaper, "exit");
    reaper.stdin.end();
    await exited;
  }

  #end(tree: string): Promise<void> {
    if (!this.#reaper) return Promise.resolve();
    return new Promise((resolve) => {
      this.#ending.set(tree, [...(this.#ending.get(tree) ?? []), resolve]);
      this.#keepAlive();
      this.#tell(`end ${tree}`);
    });
  }

  #ended(tree: string): void {
    const waiting = this.#ending.get(tree);
    this.#ending.delete(tree);
    this.#leaders.delete(tree);
    this.#keepAlive();
    for (const resolve of waiting ?? []) resolve();
  }

  #tell(line: string): void {
    this.#reaper?.stdin.write(`${line}\n`);
  }

  /** A reaper that is ready keeps this process alive only while somebody waits for its answer. */
  #keepAlive(): void {
    // `spawn` makes its pipes sockets; the type names what all kinds of them have in common.
    const answers = this.#reaper?.stdout as Socket | undefined;
    if (this.#ending.size > 0) answers?.ref();
    else answers?.unref();
  }
}
