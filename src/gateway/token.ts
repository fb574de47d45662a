import { randomBytes } from "node:crypto";
import { access, link, mkdir, open, rm, type FileHandle } from "node:fs/promises";
import { userInfo } from "node:os";
import { isAbsolute, join } from "node:path";

type Env = Readonly<Record<string, string | undefined>>;

/** The file with the token cannot be used; the message says which, why, and what to do. */
export class TokenError extends Error {
  override readonly name = "TokenError";
}

export interface BearerToken {
  readonly token: string;
  readonly file: string;
  readonly created: boolean;
  /** The paths whose permissions let others in until now. */
  readonly tightened: readonly string[];
}

/** What a bearer token may consist of (RFC 6750, section 2.1), and long enough not to be guessed. */
export function isToken(text: string): boolean {
  return /^[A-Za-z0-9._~+/-]{16,}=*$/.test(text);
}

/**
 * `$XDG_STATE_HOME/toolgate`, by default `~/.local/state/toolgate` (XDG Base Directory Specification). Throws
 * `TokenError` for a user who has no home.
 */
export function stateFolder(env: Env): string {
  const home = env["XDG_STATE_HOME"];
  // The specification has relative paths ignored.
  if (home !== undefined && isAbsolute(home)) return join(home, "toolgate");
  return join(homeFolder(env), ".local", "state", "toolgate");
}

/** Never a relative path, as an empty HOME is: the token would lie in the folder that the file tools serve. */
function homeFolder(env: Env): string {
  const home = env["HOME"];
  if (home !== undefined && isAbsolute(home)) return home;
  try {
    return userInfo().homedir;
  } catch (cause) {
    throw new TokenError(
      "This user has no home folder. Set XDG_STATE_HOME to a folder for the bearer token.",
      {
        cause,
      },
    );
  }
}

/**
 * The token of this user: 32 random bytes in base64url, made at the first start and kept in a file that nobody
 * else can read. Several first starts at once agree on one. Rejects with `TokenError`.
 */
export async function ensureToken(env: Env): Promise<BearerToken> {
  const folder = stateFolder(env);
  const file = join(folder, "token");
  try {
    const tightened = await ensureFolder(folder);
    const created = !(await exists(file)) && (await createOnce(file));
    return await read(file, created, tightened);
  } catch (error) {
    if (error instanceof TokenError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new TokenError(
      `The bearer token cannot be kept in ${file}: ${reason}. ` +
        "Make that path readable and writable for this user, or set XDG_STATE_HOME to a folder that is.",
      { cause: error },
    );
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** Makes a folder that is this user's alone. Resolves with its path if others had any access until now. */
export async function ensureFolder(folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const handle = await open(folder, "r");
  try {
    return (await tighten(handle, 0o700)) ? [folder] : [];
  } finally {
    await handle.close();
  }
}

/** True if this call made the file. It appears whole or not at all: a link fails where the name is taken. */
async function createOnce(file: string): Promise<boolean> {
  const draft = `${file}.${randomBytes(8).toString("hex")}`;
  const handle = await open(draft, "wx", 0o600);
  try {
    await handle.writeFile(`${randomBytes(32).toString("base64url")}\n`);
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await handle.close();
    await rm(draft, { force: true });
  }
}

async function read(file: string, created: boolean, before: readonly string[]): Promise<BearerToken> {
  const handle = await open(file, "r");
  try {
    const tightened = (await tighten(handle, 0o600)) ? [...before, file] : before;
    const token = (await handle.readFile("utf8")).trim();
    if (isToken(token)) return { token, file, created, tightened };
    throw new TokenError(
      `${file} ${token === "" ? "is empty" : "holds no bearer token"}. Remove it: the next start makes a new one.`,
    );
  } finally {
    await handle.close();
  }
}

/** Takes away what others may do with it, beyond `mode`. True if that was anything. */
export async function tighten(handle: FileHandle, mode: number): Promise<boolean> {
  const wide = ((await handle.stat()).mode & 0o077) !== 0;
  if (wide) await handle.chmod(mode);
  return wide;
}
