import { ToolError } from "../core/errors.ts";
import { isFolder, refused } from "./fileErrors.ts";

/** Linux's PATH_MAX. It also bounds how many folders one write can create. */
const maxBytes = 4096;

/** A file below the workspace's root: the folders on the way, and its name in the last of them. */
export interface FilePath {
  readonly folders: readonly string[];
  readonly name: string;
}

/**
 * Reads a path from a caller without touching the disk. `root` is absolute and normal. A path is relative to it;
 * an absolute one is taken if it is spelled as the root and something below it. Each name that comes back is one
 * entry of one folder: not empty, not `.` or `..`, no `/`, no NUL. Throws `ToolError` `PermissionDenied` for a path
 * that is empty, too long, holds NUL or `..` or lies outside, `ExecutionFailed` for one that names a folder.
 */
export function parseFilePath(root: string, path: string): FilePath {
  if (path === "")
    throw new ToolError("PermissionDenied", "The path is empty: name a file in the workspace.");
  if (path.includes("\0")) throw refused(path, "holds a NUL character, which no file name can.");
  if (Buffer.byteLength(path) > maxBytes)
    throw refused(`${path.slice(0, 60)}...`, `is longer than ${maxBytes} bytes: use a shorter path.`);
  const parts = belowRoot(root, path).split("/");
  if (parts.includes(".."))
    throw refused(path, 'holds "..", which is not followed: write the path from the workspace\'s root.');
  const last = parts.at(-1);
  const names = parts.filter((part) => part !== "" && part !== ".");
  const name = names.pop();
  if (name === undefined || name !== last) throw isFolder(path);
  return { folders: names, name };
}

function belowRoot(root: string, path: string): string {
  if (!path.startsWith("/")) return path;
  const prefix = root.endsWith("/") ? root : `${root}/`;
  if (path === root) return "";
  if (!path.startsWith(prefix))
    throw refused(path, "lies outside the workspace: use a path relative to the workspace's root.");
  return path.slice(prefix.length);
}
