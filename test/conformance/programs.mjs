import { spawn } from "node:child_process";
import { once } from "node:events";

/** Milliseconds until a program has to say where it listens. */
const startMs = 30_000;
/** Milliseconds that a program gets to end in order. */
const stopMs = 5_000;

/**
 * Starts programs, and ends all of them with `stop`, last started first. `cwd` and `env` are those of every program.
 */
export class Programs {
  #children = [];
  #options;

  constructor({ cwd, env }) {
    this.#options = { cwd, env, stdio: ["ignore", "pipe", "pipe"] };
  }

  /**
   * Runs `node` with these arguments. Resolves to what the first group of `announces` finds in its standard output;
   * rejects with what it said if it ends or is silent instead.
   */
  async start(args, announces) {
    const child = spawn(process.execPath, args, this.#options);
    this.#children.push(child);
    let output = "";
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text) => (log += text));
    const failed = (what) => new Error(`node ${args.join(" ")} ${what}. What it said:\n${log}${output}`);
    return new Promise((resolve, reject) => {
      child.stdout.setEncoding("utf8").on("data", (text) => {
        output += text;
        const found = announces.exec(output)?.[1];
        if (found !== undefined) resolve(found);
      });
      child.on("exit", (code) => reject(failed(`ended with ${code}`)));
      setTimeout(() => reject(failed(`said nothing for ${startMs} ms`)), startMs).unref();
    });
  }

  async stop() {
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGTERM");
      const limit = setTimeout(() => child.kill("SIGKILL"), stopMs);
      await once(child, "exit");
      clearTimeout(limit);
    }
    this.#children = [];
  }
}
