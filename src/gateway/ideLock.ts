import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { rmSync } from "node:fs";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { isObject } from "../core/json.ts";
import { localPrincipal, type Principal } from "../core/principal.ts";
import { bearer } from "../transports/http/bearer.ts";
import { ensureFolder } from "./token.ts";

/** The header in which Claude Code sends the token of a lock file. */
const ideHeader = "x-claude-code-ide-authorization";

const ideName = "Toolgate";

export interface IdeOptions {
  /** See `ideFolder`. */
  readonly folder: string;
  /** Absolute: Claude Code offers the connection to sessions inside of these. */
  readonly workspaceFolders: readonly string[];
}

/** A WebSocket door that Claude Code finds as that of an editor, and may enter by a token of this run. */
export interface IdeDoor {
  /** By the token of the lock file, in a header of its own. In constant time. */
  authenticate(headers: IncomingHttpHeaders): Principal | undefined;
  /** Writes the lock file of the door at `port`, and resolves with its path. Rejects with an `Error` for a person. */
  announce(port: number): Promise<string>;
  /** Removes the lock file, if there is one. */
  withdraw(): Promise<void>;
}

export function ideDoor(options: IdeOptions): IdeDoor {
  const token = randomBytes(32).toString("base64url");
  const authenticate = bearer(new Map([[localPrincipal.id, token]]));
  let file: string | undefined;
  // Also where the process ends without closing its doors.
  const removeNow = (): void => {
    if (file !== undefined) rmSync(file, { force: true });
  };
  return {
    authenticate: ({ [ideHeader]: sent }) =>
      typeof sent === "string" ? authenticate(`Bearer ${sent}`) : undefined,
    async announce(port) {
      file = await writeIdeLock(port, token, options);
      process.once("exit", removeNow);
      return file;
    },
    async withdraw() {
      process.off("exit", removeNow);
      if (file !== undefined) await rm(file, { force: true });
    },
  };
}

/** Where Claude Code looks for editors: `$CLAUDE_CONFIG_DIR/ide`, by default `~/.claude/ide`. */
export function ideFolder(env: Readonly<Record<string, string | undefined>>): string {
  const { CLAUDE_CONFIG_DIR: configured = "", HOME: home = "" } = env;
  if (isAbsolute(configured)) return join(configured, "ide");
  return join(isAbsolute(home) ? home : homedir(), ".claude", "ide");
}

/**
 * Nobody else can read the file, which is named after the port, or its folder. Lock files of gateways that have died
 * are removed.
 */
async function writeIdeLock(port: number, token: string, options: IdeOptions): Promise<string> {
  const { folder, workspaceFolders } = options;
  const file = join(folder, `${port}.lock`);
  const lock = { pid: process.pid, workspaceFolders, ideName, transport: "ws", authToken: token };
  try {
    await ensureFolder(folder);
    await removeStale(folder);
    await writeWhole(file, JSON.stringify(lock));
  } catch (cause) {
    throw new Error(
      `The lock file ${file} cannot be written: ${(cause as Error).message}. Make its folder writable for this user.`,
      { cause },
    );
  }
  return file;
}

/** It appears whole: who watches the folder reads it at once. */
async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomBytes(8).toString("hex")}`;
  try {
    await writeFile(draft, text, { flag: "wx", mode: 0o600 });
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Only our own: other editors look after theirs. */
async function removeStale(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    if (name.endsWith(".lock") && (await isStale(file))) await rm(file, { force: true });
  }
}

async function isStale(file: string): Promise<boolean> {
  try {
    const lock: unknown = JSON.parse(await readFile(file, "utf8"));
    return isObject(lock) && lock["ideName"] === ideName && !isRunning(lock["pid"]);
  } catch {
    // What cannot be read as a lock file is not ours.
    return false;
  }
}

function isRunning(pid: unknown): boolean {
  if (typeof pid !== "number") return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Of another user, it is there as well.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
