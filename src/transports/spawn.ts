import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Child, Spawn, SpawnOptions } from "../core/spawn.ts";
import { failedChild, RunningChild } from "./process/child.ts";
import { locate } from "./process/locate.ts";
import { createNamespaceKeeper } from "./process/namespace.ts";
import { createReaperKeeper } from "./process/reaperKeeper.ts";
import type { TreeKeeper, TreeLevel } from "./process/tree.ts";

export type { TreeLevel } from "./process/tree.ts";

export interface Spawner {
  readonly spawn: Spawn;
  /** How the trees of children are ended here. */
  readonly level: TreeLevel;
  /** What that level keeps and what it does not, for a person. */
  readonly explain: string;
  /** Stops every child that still runs. Nothing can be started afterwards. */
  close(): Promise<void>;
}

export interface SpawnerOptions {
  /** The only level to try. Default: the better one that works here. */
  readonly level?: TreeLevel;
}

/**
 * The `Spawn` of this system. At the level `reaper` a variable `TOOLGATE_TREE` is added to the environment of
 * every child: it is how its descendants are found. Rejects with an `Error` for a person where no level works.
 */
export async function createSpawn(options: SpawnerOptions = {}): Promise<Spawner> {
  const keeper = await createKeeper(options.level);
  const running = new Set<Child>();
  let closed = false;
  return {
    level: keeper.level,
    explain: keeper.explain,
    spawn(what) {
      if (closed) return failedChild(what.command, Promise.resolve([new Error("Toolgate is stopping.")]));
      const child = start(keeper, what);
      const gone = (): void => void running.delete(child);
      running.add(child);
      child.exited.then(gone, gone);
      return child;
    },
    async close() {
      closed = true;
      await Promise.all(Array.from(running, (child) => child.stop()));
      await keeper.close();
    },
  };
}

async function createKeeper(level: TreeLevel | undefined): Promise<TreeKeeper> {
  if (process.platform === "win32")
    throw new Error("Toolgate starts processes on Linux and macOS only. On Windows, run it in WSL.");
  if (level === "reaper") return createReaperKeeper("the level was chosen by hand.");
  try {
    return await createNamespaceKeeper();
  } catch (error) {
    if (level === "pid-namespace") throw error;
    return createReaperKeeper((error as Error).message);
  }
}

function start(keeper: TreeKeeper, options: SpawnOptions): Child {
  try {
    const file = locate(options);
    const tree = keeper.plant({ file, args: options.args, env: options.env });
    const process = spawn(tree.line.file, tree.line.args, {
      env: { ...tree.line.env },
      // Leads a group of its own: a terminal's Ctrl-C is for Toolgate, and signals reach all of the group.
      detached: true,
      stdio: "pipe",
      ...(options.cwd !== undefined && { cwd: options.cwd }),
    });
    if (process.pid !== undefined) return new RunningChild(process, process.pid, tree);
    return failedChild(options.command, once(process, "error"));
  } catch (error) {
    return failedChild(options.command, Promise.resolve([error]));
  }
}
