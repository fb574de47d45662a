import { randomUUID } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { open, rename, unlink, type FileHandle } from "node:fs/promises";
import { fromSystem, stopIfAborted } from "./fileErrors.ts";
import { openRegular } from "./regularFile.ts";

export interface Replacement {
  /** Where the system finds an entry of the one folder that all this happens in. */
  readonly locate: (name: string) => string;
  readonly name: string;
  /** What the caller asked for; messages name it. */
  readonly path: string;
  readonly content: string | Uint8Array;
  readonly signal?: AbortSignal;
}

/**
 * Writes a temporary file and renames it over `name`, as `Workspace.writeFile` promises. The rename puts a new entry
 * in the folder and follows nothing, so whatever takes the name after the check is replaced, never written through.
 */
export async function replaceFile(replacement: Replacement): Promise<void> {
  const { locate, name, path, content, signal } = replacement;
  const previous = await statPrevious(replacement);
  const temporary = locate(`.toolgate-${randomUUID()}.tmp`);
  try {
    const file = await create(temporary, previous);
    try {
      await fill(file, content, previous);
      stopIfAborted(signal, path);
      await rename(temporary, locate(name));
    } catch (error) {
      // The first error is the one to tell, not one of the clean-up.
      await unlink(temporary).catch(() => {});
      throw error;
    } finally {
      await file.close();
    }
  } catch (error) {
    throw fromSystem(error, "write", path);
  }
}

/** Opening for writing asks the system whether this file may be written; a rename alone would not. */
async function statPrevious({ locate, name, path }: Replacement): Promise<Stats | undefined> {
  const file = await openRegular({ location: locate(name), path, action: "write" });
  try {
    return await file?.stat();
  } finally {
    await file?.close();
  }
}

function create(location: string, previous: Stats | undefined): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  return open(location, flags, previous ? 0o600 : 0o666);
}

async function fill(
  file: FileHandle,
  content: string | Uint8Array,
  previous: Stats | undefined,
): Promise<void> {
  await file.writeFile(content);
  if (previous) {
    await file.chown(previous.uid, previous.gid).catch(() => {
      // Only root may give a file away: it then belongs to whoever wrote it.
    });
    await file.chmod(previous.mode & 0o777);
  }
  // Without it a power cut after the rename can leave an empty file where the old content was.
  await file.datasync();
}
