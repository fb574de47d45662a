import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { JsonObject } from "../../src/core/json.ts";
import type { Command } from "./toolgate.ts";

/** A program that speaks MCP on its standard streams, line by line. */
export interface StdioProgram {
  readonly pid: number;
  /** A string goes out as it is, anything else as JSON; a newline follows. */
  send(message: unknown): void;
  /** The next line of its output that nobody has taken yet and that is no notification. */
  answer(): Promise<JsonObject>;
  /** `send`, then `answer`. */
  ask(message: unknown): Promise<JsonObject>;
  /** Closes its standard input. */
  leave(): void;
  /** All that it has written to standard error so far. */
  log(): string;
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  /** Closes its input and waits; SIGKILL if it is still there after ten seconds. */
  stop(): Promise<void>;
}

/** Starts it without waiting for anything: it reads what is sent when it is ready. */
export function startStdio({ command, args, env, cwd }: Command): StdioProgram {
  const child = spawn(command, args, { cwd, env, stdio: "pipe" });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  child.stdin.on("error", () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = once(child, "exit").then(([code, signal]: unknown[]) => ({
    code: code as number | null,
    signal: signal as string | null,
  }));
  const send = (message: unknown): void => {
    child.stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  };
  const answer = async (): Promise<JsonObject> => {
    for (;;) {
      const { done, value } = await lines.next();
      if (done) throw new Error(`Its output has ended. What it said:\n${log}`);
      const message = JSON.parse(value) as JsonObject;
      if (!("method" in message)) return message;
    }
  };
  const ask = (message: unknown): Promise<JsonObject> => {
    send(message);
    return answer();
  };
  const leave = (): void => void child.stdin.end();
  const stop = async (): Promise<void> => {
    leave();
    const kill = setTimeout(() => child.kill("SIGKILL"), 10_000);
    await exited.finally(() => clearTimeout(kill));
  };
  return { pid: child.pid ?? 0, send, answer, ask, leave, log: () => log, exited, stop };
}
