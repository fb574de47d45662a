import { execFile } from "node:child_process";
import type { Command } from "./toolgate.ts";

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, with `input` on its standard input. Rejects where it was ended by a signal. */
export function runProgram({ command, args, env, cwd }: Command, input = ""): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, { env, cwd, timeout: 25_000 }, (error, stdout, stderr) => {
      const code = error ? error.code : 0;
      if (typeof code === "number") resolve({ code, stdout, stderr });
      else reject(error);
    });
    child.stdin?.on("error", () => {}).end(input);
  });
}
