import { constants } from "node:fs";
import { lstat, mkdir, open, type FileHandle } from "node:fs/promises";
import { errnoOf, fromSystem, noSuchFile, noWorkspace, refusedLink, stopIfAborted } from "./fileErrors.ts";
import { parseFilePath, type FilePath } from "./filePath.ts";
import { openRegular } from "./regularFile.ts";
import { replaceFile } from "./replaceFile.ts";
import type { Workspace } from "./workspace.ts";

interface Walk {
  readonly root: string;
  readonly path: string;
  readonly action: "read" | "write";
  readonly createFolders: boolean;
}

/**
 * A workspace on Linux. A path is walked one name at a time, each looked up in the folder that is already open
 * (`/proc/self/fd/N/name` is what openat(2) is in C), so that no rename meanwhile leads anywhere else. `root` is
 * absolute and normal, and may itself be reached by links: whoever configured it chose them.
 */
export function descriptorWorkspace(root: string): Workspace {
  return {
    async openRead(path) {
      const walk = { root, path, action: "read", createFolders: false } as const;
      return inFolder(walk, async (folder, name) => {
        const file = await openRegular({ location: entry(folder, name), path, action: "read" });
        if (!file) throw noSuchFile(path);
        return file;
      });
    },
    async writeFile(path, content, { createFolders = false, signal } = {}) {
      stopIfAborted(signal, path);
      const walk = { root, path, action: "write", createFolders } as const;
      await inFolder(walk, (folder, name) =>
        replaceFile({ locate: (own) => entry(folder, own), name, path, content, ...(signal && { signal }) }),
      );
    },
  };
}

/** Where the system finds `name` in an open folder. `name` must be a single entry, as `parseFilePath` makes them. */
function entry(folder: FileHandle, name: string): string {
  return `/proc/self/fd/${folder.fd}/${name}`;
}

async function inFolder<T>(walk: Walk, use: (folder: FileHandle, name: string) => Promise<T>): Promise<T> {
  const { folders, name } = parseFilePath(walk.root, walk.path);
  const folder = await openFolder(folders, walk);
  try {
    return await use(folder, name);
  } finally {
    await folder.close();
  }
}

async function openFolder(names: FilePath["folders"], walk: Walk): Promise<FileHandle> {
  let folder = await openRoot(walk.root);
  try {
    for (const name of names) {
      const parent = folder;
      folder = await openChild(entry(parent, name), walk);
      await parent.close();
    }
    return folder;
  } catch (error) {
    await folder.close();
    throw error;
  }
}

async function openRoot(root: string): Promise<FileHandle> {
  try {
    return await open(root, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    throw noWorkspace(root, error);
  }
}

async function openChild(location: string, walk: Walk): Promise<FileHandle> {
  try {
    return await openDirectory(location);
  } catch (error) {
    if (errnoOf(error) === "ENOENT" && walk.createFolders) return createChild(location, walk);
    throw await whyNot(error, location, walk);
  }
}

async function createChild(location: string, walk: Walk): Promise<FileHandle> {
  try {
    await mkdir(location);
  } catch (error) {
    // Somebody else made it meanwhile: whether it is a folder shows when it is opened.
    if (errnoOf(error) !== "EEXIST") throw fromSystem(error, walk.action, walk.path);
  }
  return openChild(location, { ...walk, createFolders: false });
}

function openDirectory(location: string): Promise<FileHandle> {
  return open(location, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}

/** Linux answers ENOTDIR for a link as for a file. The second look only chooses the words: the open has failed already. */
async function whyNot(error: unknown, location: string, { action, path }: Walk): Promise<unknown> {
  if (errnoOf(error) !== "ENOTDIR") return fromSystem(error, action, path);
  const isLink = await lstat(location).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
  return isLink ? refusedLink(path) : fromSystem(error, action, path);
}
