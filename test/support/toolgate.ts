import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cliPath } from "./paths.ts";

export interface ToolgateOptions {
  /** Written to a file and passed with `--config`. */
  readonly config?: unknown;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the folder given to `startToolgate`. */
  readonly cwd?: string;
  /** Another `node` binary than the one that runs the tests. */
  readonly node?: string;
}

/** How to start a program. */
export interface Command {
  readonly command: string;
  readonly args: string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}

export interface RunningToolgate {
  readonly pid: number;
  /** Of MCP: `http://127.0.0.1:PORT/mcp`. */
  readonly url: string;
  /** The one that it made itself: undefined with `--no-auth`, or where the configuration names principals. */
  readonly token: string | undefined;
  /** All that it has written to standard error so far. */
  log(): string;
  /** And to standard output. */
  output(): string;
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  /** SIGTERM, and SIGKILL if it is still there after five seconds. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * The command line that starts the built Toolgate, with `folder` for its state and configuration. The home is
 * below it, since the file tools are not served in a whole home by default.
 */
export async function toolgateCommand(
  folder: string,
  args: readonly string[],
  options: ToolgateOptions = {},
): Promise<Command> {
  const cwd = options.cwd ?? folder;
  const home = join(folder, "home");
  for (const needed of [cwd, home]) await mkdir(needed, { recursive: true });
  const flags = [...args];
  if (options.config !== undefined) {
    const path = join(folder, "toolgate.test.json");
    await writeFile(path, JSON.stringify(options.config));
    flags.push("--config", path);
  }
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, XDG_STATE_HOME: folder, ...options.env };
  return { command: options.node ?? process.execPath, args: [cliPath, ...flags], env, cwd };
}

/** Starts `toolgate serve` on HTTP and resolves when it says where it listens; rejects with its log if it ends before. */
export async function startToolgate({ command, args, env, cwd }: Command): Promise<RunningToolgate> {
  const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  const exited = once(child, "exit").then(([code, signal]: unknown[]) => ({
    code: code as number | null,
    signal: signal as string | null,
  }));
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    const kill = setTimeout(() => child.kill("SIGKILL"), 5_000);
    await exited.finally(() => clearTimeout(kill));
  };
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", () => {
      const found = /serves MCP on (http:\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    exited.then(({ code }) => reject(new Error(`it ended with ${code}`)), reject);
    setTimeout(() => reject(new Error("20 s have passed")), 20_000).unref();
  }).catch(async (error: Error) => {
    if (child.pid !== undefined) await stop();
    throw new Error(`toolgate is not ready: ${error.message}. What it said:\n${log}${output}`, {
      cause: error,
    });
  });
  return {
    pid: child.pid ?? 0,
    url,
    token: readToken(env),
    log: () => log,
    output: () => output,
    exited,
    stop,
  };
}

/** The token that the first start made, kept below the state folder. */
function readToken(env: Command["env"]): string | undefined {
  const path = join(env["XDG_STATE_HOME"] ?? "", "toolgate/token");
  return existsSync(path) ? readFileSync(path, "utf8").trim() : undefined;
}
