import type { Readable, Writable } from "node:stream";
import type { Log } from "../core/effects.ts";
import { localPrincipal } from "../core/principal.ts";
import type { Child, ExitStatus, Spawn, SpawnOptions } from "../core/spawn.ts";
import type { Endpoint } from "../wire/endpoint.ts";
import type { Dial, Link, LinkEvents } from "../wire/link.ts";
import { readLines } from "./lines.ts";
import { settlesWithin } from "./settlesWithin.ts";
import { serveStream, streamLink, type StreamServer } from "./stream.ts";

/** Of what a process writes to standard error, this much is kept for the message that tells of its end. */
const keptLines = 20;
const keptCharacters = 4096;
const maxErrorLine = 64 * 1024;
/** How long an output that somebody else still holds may delay the news of the process's end, in milliseconds. */
const maxDrainMs = 500;

export interface ServeStdioOptions {
  readonly log: Log;
  /** Default 4 MiB. */
  readonly maxMessageBytes?: number;
  /** Default: the standard input of this process. */
  readonly input?: Readable;
  /** Default: the standard output of this process. Nothing else may write to it. */
  readonly output?: Writable;
}

/** Serves the client that started this process, as the principal `local`. */
export function serveStdio(endpoint: Endpoint, options: ServeStdioOptions): StreamServer {
  const { input = process.stdin, output = process.stdout, ...rest } = options;
  return serveStream(endpoint, { ...rest, input, output, principal: localPrincipal });
}

export interface DialStdioOptions extends SpawnOptions {
  readonly spawn: Spawn;
  /** Default 32 MiB. */
  readonly maxMessageBytes?: number;
  /** One line of the process's standard error. */
  onStderr?(line: string): void;
}

/**
 * Starts a server and talks to it over its standard streams. The process belongs to the link: it is stopped when
 * either end closes. The error of `closed` gives its exit status and its last words on standard error.
 */
export function dialStdio(options: DialStdioOptions): Dial {
  return async (events) => {
    const child = options.spawn(options);
    // It never started: this rejects.
    if (child.pid === undefined) await child.exited;
    return openLink(child, events, options);
  };
}

function openLink(child: Child, events: LinkEvents, options: DialStdioOptions): Link {
  const { maxMessageBytes, onStderr } = options;
  const words = new LastWords(child.stderr, onStderr);
  let open = true;
  let drained = (): void => {};
  const outputEnded = new Promise<void>((resolve) => (drained = resolve));
  const link = streamLink({
    input: child.stdout,
    output: child.stdin,
    events: {
      message: (incoming) => events.message(incoming),
      closed: () => {
        drained();
        // A process that cannot be talked to any more is of no use.
        void child.stop();
      },
    },
    ...(maxMessageBytes !== undefined && { maxMessageBytes }),
  });
  const tell = async (how: string): Promise<void> => {
    await settlesWithin(maxDrainMs, Promise.all([outputEnded, words.ended]));
    if (!open) return;
    open = false;
    await link.close();
    events.closed(new Error(`the process ${how}${words.summary()}`));
  };
  void child.exited.then(describe, (error: Error) => `failed: ${error.message}`).then(tell);
  return {
    send: (message) => link.send(message),
    async close() {
      open = false;
      await link.close();
      await child.stop();
    },
  };
}

function describe({ code, signal }: ExitStatus): string {
  return code === null ? `was ended by ${signal}` : `exited with code ${code}`;
}

class LastWords {
  readonly ended: Promise<void>;
  readonly #lines: string[] = [];
  #characters = 0;

  constructor(stderr: Readable, onLine: ((line: string) => void) | undefined) {
    const keep = (line: string): void => {
      this.#keep(line);
      onLine?.(line);
    };
    this.ended = new Promise((resolve) => {
      readLines(stderr, {
        maxBytes: () => maxErrorLine,
        onLine: (text) => keep(text.trimEnd()),
        onOversized: (limit) => keep(`[a line of more than ${limit} bytes]`),
        onEnd: () => resolve(),
      });
    });
  }

  summary(): string {
    return this.#lines.length === 0 ? "" : `; its last words: ${this.#lines.join("\n")}`;
  }

  #keep(line: string): void {
    const kept = line.slice(0, keptCharacters);
    this.#lines.push(kept);
    this.#characters += kept.length;
    while (this.#lines.length > keptLines || this.#characters > keptCharacters)
      this.#characters -= this.#lines.shift()?.length ?? 0;
  }
}
