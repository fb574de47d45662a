import { getSystemErrorMap } from "node:util";
import { ToolError } from "../core/errors.ts";

/** A path for a message: as it was given, or quoted where it holds what would break or forge a line. */
export function shown(path: string): string {
  return /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u.test(path) ? path : JSON.stringify(path);
}

/** The guard says no. */
export function refused(path: string, why: string): ToolError {
  return new ToolError("PermissionDenied", `${shown(path)} ${why}`);
}

export function refusedLink(path: string): ToolError {
  return refused(
    path,
    "is or passes through a symbolic link, which is not followed: name the file by its real path in the workspace.",
  );
}

export function refusedSpecial(path: string): ToolError {
  return refused(path, "is a pipe, a socket or a device: only regular files can be opened.");
}

export function noSuchFile(path: string, cause?: unknown): ToolError {
  return new ToolError("ExecutionFailed", `No such file: ${shown(path)}`, { cause });
}

export function isFolder(path: string, cause?: unknown): ToolError {
  return new ToolError("ExecutionFailed", `${shown(path)} is a folder: name a file.`, { cause });
}

/** The folder that was configured as workspace cannot be opened. */
export function noWorkspace(root: string, cause: unknown): ToolError {
  return new ToolError(
    "ExecutionFailed",
    `The workspace ${shown(root)} cannot be opened (${errnoOf(cause)}): create the folder, or set another as workspace.`,
    { cause },
  );
}

/** Throws `Cancelled` before a write has changed anything. */
export function stopIfAborted(signal: AbortSignal | undefined, path: string): void {
  if (signal?.aborted)
    throw new ToolError("Cancelled", `The write to ${shown(path)} was cancelled; nothing was changed.`, {
      cause: signal.reason,
    });
}

/** The code of a system error ("ENOENT", ...); undefined for any other value. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

/** What the system said about `path`, as a `ToolError`. What is no system error (an abort, a `ToolError`) passes unchanged. */
export function fromSystem(error: unknown, action: "read" | "write", path: string): unknown {
  const { code, errno } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  if (typeof errno !== "number") return error;
  if (code === "ELOOP") return refusedLink(path);
  if (code === "ENXIO") return refusedSpecial(path);
  if (code === "EISDIR") return isFolder(path, error);
  if (code === "ENOENT" && action === "read") return noSuchFile(path, error);
  const reason = getSystemErrorMap().get(errno)?.[1] ?? code;
  return new ToolError("ExecutionFailed", `Cannot ${action} ${shown(path)}: ${reason}.`, { cause: error });
}
