import { constants, type Stats } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { errnoOf, fromSystem, isFolder, refused, refusedSpecial } from "./fileErrors.ts";

// Without O_NONBLOCK the open of a pipe waits for its other end. O_TRUNC must not be here: nothing is known yet.
const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

export interface OpenRequest {
  /** What the system is asked for. */
  readonly location: string;
  /** What the caller asked for; messages name it. */
  readonly path: string;
  readonly action: "read" | "write";
}

/**
 * Opens what is at `location` now, without following a link, and judges the open file, which nobody can swap any
 * more. Undefined where there is none. Rejects with `ToolError`: `PermissionDenied` unless it is a regular file with
 * one name (a second one could lie outside the workspace), `ExecutionFailed` for a folder and for whatever the system
 * answers. The caller closes it.
 */
export async function openRegular({ location, path, action }: OpenRequest): Promise<FileHandle | undefined> {
  let file: FileHandle;
  try {
    file = await open(location, flags | (action === "read" ? O_RDONLY : O_WRONLY));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw fromSystem(error, action, path);
  }
  try {
    judge(await file.stat(), path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function judge(stats: Stats, path: string): void {
  if (stats.isDirectory()) throw isFolder(path);
  if (!stats.isFile()) throw refusedSpecial(path);
  // For links that lie there. Nobody gains by racing this: to make one, a user must own the file or be able to write it
  // (fs.protected_hardlinks), and no link crosses into a mount.
  if (stats.nlink > 1)
    throw refused(
      path,
      `has ${stats.nlink} hard links, and one may lie outside the workspace: copy it to a new file and use that.`,
    );
}
