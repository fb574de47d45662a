import { once } from "node:events";
import { chmodSync, rmSync } from "node:fs";
import { lstat, unlink } from "node:fs/promises";
import { connect, type Server } from "node:net";
import { localPrincipal } from "../core/principal.ts";
import type { Endpoint } from "../wire/endpoint.ts";
import type { Dial } from "../wire/link.ts";
import { LineServer } from "./lineServer.ts";
import type { Gate } from "./messageServer.ts";
import { socketLink } from "./socketLink.ts";
import type { SocketListener, SocketListenOptions } from "./socketListener.ts";

/** What the kernel takes, in bytes: Linux has a little more than the BSDs. */
const maxPathBytes = process.platform === "linux" ? 107 : 103;

export interface UnixListenOptions extends SocketListenOptions {
  readonly endpoint: Endpoint;
  /** Of the socket file, absolute. */
  readonly path: string;
}

/**
 * Serves an endpoint on a Unix socket, a message a line, to the user who runs this program and nobody else: the file
 * has mode 0600 and every client is `local`. A client whose first line is no message is cut off. A file that a dead
 * server left behind is replaced; the own one is removed by `close`. Rejects with an `Error` for a person.
 */
export async function listenUnix(options: UnixListenOptions): Promise<SocketListener> {
  const { endpoint, path } = options;
  if (Buffer.byteLength(path) > maxPathBytes)
    throw new Error(
      `Cannot listen on ${path}: the path may have ${maxPathBytes} bytes. Choose a shorter one.`,
    );
  const lines = new LineServer(endpoint, { ...options, gate: messageGate });
  try {
    await bindPath(lines.server, path).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") throw error;
      await removeStale(path);
      await bindPath(lines.server, path);
    });
  } catch (error) {
    await lines.close();
    throw explain(error as Error, path);
  }
  // Node removes the file when the server is closed, but not where the process ends before.
  const removeNow = (): void => rmSync(path, { force: true });
  process.once("exit", removeNow);
  const close = (): Promise<void> => {
    process.off("exit", removeNow);
    return lines.close();
  };
  return { url: `unix:${path}`, close };
}

/** No page can reach a Unix socket by itself. What relays to one may be talked into passing on its POST. */
const messageGate: Gate = {
  admit: (first) => (first.kind === "invalid" ? { refusal: undefined } : { principal: localPrincipal }),
};

async function bindPath(server: Server, path: string): Promise<void> {
  const listening = once(server, "listening");
  server.listen(path);
  // The file is there by now. Until this line the umask decides, and the usual one lets nobody else connect either.
  if (server.listening) chmodSync(path, 0o600);
  await listening;
}

/** Rejects unless the file is a socket on which nobody listens. */
async function removeStale(path: string): Promise<void> {
  if (!(await lstat(path)).isSocket())
    throw new Error("it exists and is no socket. Remove it, or choose another path");
  if (await answers(path)) throw new Error("another program listens there. Stop it, or choose another path");
  await unlink(path);
}

/** Only a refused connection shows that nobody listens: one that fails otherwise may have a server. */
async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ECONNREFUSED";
  } finally {
    socket.destroy();
  }
}

function explain(error: NodeJS.ErrnoException, path: string): Error {
  // For a folder that does not exist Node says EACCES too.
  const reason =
    error.code === "EACCES"
      ? "its folder does not exist, or this user may not write to it. Make it, or choose another path"
      : error.message;
  return new Error(`Cannot listen on ${path}: ${reason}.`, { cause: error });
}

export interface DialUnixOptions {
  /** Of the socket file. */
  readonly path: string;
  /** Default 32 MiB. */
  readonly maxMessageBytes?: number;
}

/** Reaches a server on a Unix socket, a message a line. */
export function dialUnix({ path, ...options }: DialUnixOptions): Dial {
  return (events) => socketLink({ ...options, target: { path }, address: `unix:${path}`, events });
}
