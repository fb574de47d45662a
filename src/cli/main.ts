#!/usr/bin/env node
import { openDoors } from "../gateway/doors.ts";
import { createGateway } from "../gateway/gateway.ts";
import { signIn } from "../gateway/oauth.ts";
import { readVersion } from "../gateway/version.ts";
import { UsageError } from "./flags.ts";
import { exitCodes, type Io } from "./io.ts";
import { run } from "./run.ts";

const signals = ["SIGINT", "SIGTERM"] as const;

// The program's entry: the one module that acts when it is loaded.
const io: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  get cwd() {
    return currentFolder();
  },
  version: readVersion(),
  nodeVersion: process.version,
  createGateway,
  openDoors,
  signIn,
  now: () => new Date(),
  onInterrupt(listener) {
    let hungUp = false;
    // A terminal that closes may send it twice, from the kernel and from the shell.
    const hangUp = (): void => {
      if (hungUp) return;
      hungUp = true;
      listener();
    };
    for (const signal of signals) process.on(signal, listener);
    process.on("SIGHUP", hangUp);
    return () => {
      for (const signal of signals) process.off(signal, listener);
      process.off("SIGHUP", hangUp);
    };
  },
  exit: (code) => process.exit(code),
};

for (const stream of [process.stdout, process.stderr]) stream.on("error", lostOutput);
const code = await run(process.argv.slice(2), io);
// Standard input may still be open and would keep the process.
if (process.stdout.writableEnded) process.exit(code);
// A turn later: a write that failed calls back before the stream tells of it.
process.stdout.write("", () => setImmediate(() => process.exit(code)));

function currentFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new UsageError("The current folder is not there any more. Change to another one.", { cause });
  }
}

/** A reader that leaves early, as `head` does or a terminal that closes, is no error; a full disk is. */
function lostOutput(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE" && error.code !== "EIO") process.exit(exitCodes.unreachable);
}
