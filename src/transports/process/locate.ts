import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import type { SpawnOptions } from "../../core/spawn.ts";

/** Where execvp looks when there is no PATH. */
const defaultPath = "/usr/bin:/bin";

/**
 * The absolute path of the file that the command names, found as the child would find it: on its own PATH, from
 * its own directory. (A wrapper that cannot find it would complain of itself.) Throws an `Error` with the reason.
 */
export function locate({ command, env, cwd = process.cwd() }: Omit<SpawnOptions, "args">): string {
  if (!isDirectory(cwd)) throw new Error(`there is no directory "${cwd}". Check "cwd".`);
  const hasPath = command.includes("/");
  const path = env["PATH"] ?? defaultPath;
  const candidates = hasPath
    ? [resolve(cwd, command)]
    : path.split(delimiter).map((directory) => resolve(cwd, directory, command));
  const files = command === "" ? [] : candidates.filter((file) => existsSync(file));
  const runnable = files.find(isRunnable);
  if (runnable !== undefined) return runnable;
  const file = files[0];
  if (file === undefined)
    throw new Error(`command not found. Check "command"${hasPath ? "" : " and the PATH that it gets"}.`);
  if (isDirectory(file)) throw new Error(`"${file}" is a directory. Check "command".`);
  throw new Error(`"${file}" is not executable. Run chmod +x on it, or name its interpreter as "command".`);
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
