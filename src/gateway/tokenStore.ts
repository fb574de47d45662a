import { createHash, randomBytes } from "node:crypto";
import { open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../core/effects.ts";
import { isObject } from "../core/json.ts";
import type { Grant, GrantStore } from "../mcp/client/oauth.ts";
import { ensureFolder, stateFolder, tighten } from "./token.ts";

export interface TokenStoreOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly namespace: string;
  /** Of the server: its tokens are not read for another one. */
  readonly url: string;
  readonly log: Log;
  /** Default: that of Node, which keeps the process alive. */
  readonly sleep?: (ms: number) => Promise<unknown>;
}

/** Between two looks at a lock that another process holds. */
const lookMs = 50;
/** Nobody holds a lock that long: who made it is gone. */
const staleMs = 120_000;

/**
 * Keeps the grant for one upstream in `$XDG_STATE_HOME/toolgate/oauth`, in a file of its own that nobody else can
 * read. A file is replaced as a whole, and changed by one process at a time: a refresh token works once.
 */
export class TokenStore implements GrantStore {
  readonly place: string;
  readonly #options: TokenStoreOptions;
  readonly #folder: string;
  readonly #resource: string;

  /** Throws `TokenError` for a user who has no home. */
  constructor(options: TokenStoreOptions) {
    const { env, namespace, url } = options;
    this.#options = options;
    this.#resource = resourceOf(url);
    this.#folder = join(stateFolder(env), "oauth");
    const hash = createHash("sha256").update(this.#resource).digest("hex").slice(0, 16);
    this.place = join(this.#folder, `${namespace}-${hash}.json`);
  }

  async load(): Promise<Grant | undefined> {
    const handle = await ifThere(this.#do(open(this.place, "r")));
    if (!handle) return undefined;
    try {
      if (await tighten(handle, 0o600)) this.#wasOpen(this.place);
      return this.#parse(await handle.readFile("utf8"));
    } finally {
      await handle.close();
    }
  }

  async update(change: (now: Grant | undefined) => Promise<Grant | undefined>): Promise<Grant | undefined> {
    for (const path of await this.#do(ensureFolder(this.#folder))) this.#wasOpen(path);
    const unlock = await this.#lock();
    try {
      const now = await this.load();
      const after = await change(now);
      if (after && after !== now) await this.#do(this.#write(after));
      return after ?? now;
    } finally {
      await unlock();
    }
  }

  #parse(text: string): Grant {
    const kept = parseJson(text);
    const { version, resource, grant } = isObject(kept) ? kept : {};
    if (version === 1 && resource === this.#resource && isGrant(grant)) return grant;
    throw new Error(
      `${this.place} does not hold what Toolgate keeps there. Remove it and run "toolgate auth ${this.#options.namespace}".`,
    );
  }

  /** It appears whole or not at all. */
  async #write(grant: Grant): Promise<void> {
    const draft = `${this.place}.${randomBytes(8).toString("hex")}`;
    const handle = await open(draft, "wx", 0o600);
    try {
      await handle.writeFile(
        `${JSON.stringify({ version: 1, resource: this.#resource, grant }, undefined, 2)}\n`,
      );
      await handle.sync();
      await rename(draft, this.place);
    } finally {
      await handle.close();
      await rm(draft, { force: true });
    }
  }

  /** Resolves with how to unlock. */
  async #lock(): Promise<() => Promise<void>> {
    const file = `${this.place}.lock`;
    for (;;) {
      const handle = await unlessThere(this.#do(open(file, "wx", 0o600)));
      if (handle) {
        await handle.close();
        return () => rm(file, { force: true });
      }
      const held = await ifThere(stat(file));
      // A clock that was set back makes locks of the future.
      if (held && Math.abs(Date.now() - held.mtimeMs) > staleMs) await rm(file, { force: true });
      else await (this.#options.sleep ?? sleep)(lookMs);
    }
  }

  /** Says of what the file system refuses which file it is about; the code stays. */
  #do<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: NodeJS.ErrnoException) => {
      const message = `The sign-in of "${this.#options.namespace}" cannot be kept in ${this.place}: ${error.message}. Make that path readable and writable for this user, or set XDG_STATE_HOME to a folder that is.`;
      throw Object.assign(new Error(message, { cause: error }), { code: error.code });
    });
  }

  #wasOpen(path: string): void {
    this.#options.log(
      "warning",
      `${path} was open to other users of this machine; it is not any more. If they should not have read it, sign in again with "toolgate auth ${this.#options.namespace}".`,
    );
  }
}

/** The canonical URI of a server (specification 2026-07-28, basic/authorization, Canonical Server URI). */
function resourceOf(text: string): string {
  const url = new URL(text);
  url.hash = "";
  return url.href;
}

function isGrant(value: unknown): value is Grant {
  if (!isObject(value)) return false;
  const { issuer, redirectUrl, client, tokens } = value;
  const isClient = isObject(client) && typeof client["client_id"] === "string";
  const areTokens = tokens === undefined || (isObject(tokens) && typeof tokens["access"] === "string");
  return typeof issuer === "string" && typeof redirectUrl === "string" && isClient && areTokens;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const ifThere = <T>(promise: Promise<T>): Promise<T | undefined> => unless(promise, "ENOENT");
const unlessThere = <T>(promise: Promise<T>): Promise<T | undefined> => unless(promise, "EEXIST");

async function unless<T>(promise: Promise<T>, code: string): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return undefined;
    throw error;
  }
}
