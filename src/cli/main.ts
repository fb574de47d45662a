#!/usr/bin/env node
import { openDoors } from "../gateway/doors.ts";
import { createGateway } from "../gateway/gateway.ts";
import { readVersion } from "../gateway/version.ts";
import { exitCodes, type Io } from "./io.ts";
import { run } from "./run.ts";

const signals = ["SIGINT", "SIGTERM"] as const;

// The program's entry: the one module that acts when it is loaded.
const io: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  version: readVersion(),
  nodeVersion: process.version,
  createGateway,
  openDoors,
  now: () => new Date(),
  onInterrupt(listener) {
    for (const signal of signals) process.on(signal, listener);
    return () => {
      for (const signal of signals) process.off(signal, listener);
    };
  },
  exit: (code) => process.exit(code),
};

// A server that was started from a terminal outlives it; SIGTERM ends it.
process.on("SIGHUP", () => {});
for (const stream of [process.stdout, process.stderr]) stream.on("error", lostOutput);
const code = await run(process.argv.slice(2), io);
// Standard input may still be open and would keep the process.
if (process.stdout.writableEnded) process.exit(code);
process.stdout.write("", () => process.exit(code));

/** A reader that leaves early, as `head` does, is no error; a full disk is. */
function lostOutput(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") process.exit(exitCodes.unreachable);
}
