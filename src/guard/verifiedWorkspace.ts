import { lstat, realpath, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { ToolError } from "../core/errors.ts";
import { fromSystem, noSuchFile, noWorkspace, refusedLink, shown } from "./fileErrors.ts";
import { parseFilePath } from "./filePath.ts";
import { openRegular } from "./regularFile.ts";
import type { Workspace } from "./workspace.ts";

/**
 * A workspace where open folders have no paths (macOS, Linux without /proc): for reading only. The file is opened
 * first and then checked to be the one at that very path, reached by no link. Somebody who swaps links inside the
 * workspace must win three races in a row to get past it, which `descriptorWorkspace` rules out.
 */
export function verifiedWorkspace(root: string): Workspace {
  return {
    async openRead(path) {
      const { folders, name } = parseFilePath(root, path);
      const location = join(await realRoot(root), ...folders, name);
      const file = await openRegular({ location, path, action: "read" });
      if (!file) throw noSuchFile(path);
      try {
        await verify(file, location, path);
        return file;
      } catch (error) {
        await file.close();
        throw fromSystem(error, "read", path);
      }
    },
    async writeFile(path) {
      throw new ToolError(
        "Unsupported",
        `Cannot write ${shown(path)}: files are written on Linux with /proc only, since elsewhere the write could be led out of the workspace.`,
      );
    },
  };
}

async function realRoot(root: string): Promise<string> {
  try {
    return await realpath(root);
  } catch (error) {
    throw noWorkspace(root, error);
  }
}

async function verify(file: FileHandle, location: string, path: string): Promise<void> {
  const real = await realpath(location);
  const named = await lstat(location, { bigint: true });
  const opened = await file.stat({ bigint: true });
  if (real !== location || named.ino !== opened.ino || named.dev !== opened.dev) throw refusedLink(path);
}
