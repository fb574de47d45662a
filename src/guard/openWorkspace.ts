import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { ToolError } from "../core/errors.ts";
import { descriptorWorkspace } from "./descriptorWorkspace.ts";
import { shown } from "./fileErrors.ts";
import { verifiedWorkspace } from "./verifiedWorkspace.ts";
import type { Workspace } from "./workspace.ts";

/**
 * The strongest guard that this system has over the folder `root`. It holds nothing open: the folder is opened by
 * each operation. Throws `ToolError` `ExecutionFailed` for a root that is not absolute, `Unsupported` on Windows.
 */
export function openWorkspace(root: string, platform: NodeJS.Platform = process.platform): Workspace {
  if (platform === "win32")
    throw new ToolError(
      "Unsupported",
      "Files in a workspace can be reached on Linux and macOS, not on Windows.",
    );
  if (!isAbsolute(root))
    throw new ToolError(
      "ExecutionFailed",
      `The workspace ${shown(root)} is not an absolute path: set one that is.`,
    );
  const holdsOpenFolders = platform === "linux" && existsSync("/proc/self/fd");
  return holdsOpenFolders ? descriptorWorkspace(resolve(root)) : verifiedWorkspace(resolve(root));
}
