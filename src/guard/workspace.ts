import type { FileHandle } from "node:fs/promises";

export interface WriteOptions {
  /** Makes the folders that are missing on the way. They stay if the write fails later. */
  readonly createFolders?: boolean;
  /** Looked at before the disk is touched and again before the new content takes its place. */
  readonly signal?: AbortSignal;
}

/**
 * The files below one folder, and nothing else: symbolic links (also inside), hard links, pipes, sockets and
 * devices are refused. Whoever may write outside the workspace is trusted; what is inside may change at any moment.
 *
 * Paths are as `parseFilePath` says. Both methods reject with `ToolError`: `PermissionDenied` for what the guard
 * refuses, `ExecutionFailed` for what the system answers, `Unsupported` for what does not hold on this system.
 */
export interface Workspace {
  /** The caller closes the handle. */
  openRead(path: string): Promise<FileHandle>;

  /**
   * Creates the file or replaces it in one step: a reader sees the old content or the new, whole. A file that
   * was there keeps its mode, and its owner where the system allows; access control lists and extended attributes
   * are not kept. Rejects with `Cancelled` if the signal was aborted in time; the file is then as it was.
   */
  writeFile(path: string, content: string | Uint8Array, options?: WriteOptions): Promise<void>;
}
