import { connect, type NetConnectOpts } from "node:net";
import { once } from "node:events";
import type { Link, LinkEvents } from "../wire/link.ts";
import { reasonOf } from "./http/dialErrors.ts";
import { settlesWithin } from "./settlesWithin.ts";
import { streamLink } from "./stream.ts";

/** How long the other side may take to read the last messages before the connection is cut off, in milliseconds. */
const maxFlushMs = 1_000;

export interface SocketLinkOptions {
  readonly target: NetConnectOpts;
  /** For messages to a person. */
  readonly address: string;
  readonly events: LinkEvents;
  /** Default 32 MiB. */
  readonly maxMessageBytes?: number;
}

/** Connects, and speaks a message a line. Rejects with an `Error` for a person if nobody answers there. */
export async function socketLink({ target, address, ...options }: SocketLinkOptions): Promise<Link> {
  // A peer that vanished without a word is noticed after some minutes, however idle the connection is.
  const socket = connect({ ...target, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 });
  try {
    await once(socket, "connect");
  } catch (cause) {
    throw new Error(`Could not reach ${address}: ${reasonOf(cause as Error)}`, { cause });
  }
  const link = streamLink({ ...options, input: socket, output: socket });
  return {
    send: (message) => link.send(message),
    async close() {
      const closed = socket.closed ? Promise.resolve() : once(socket, "close");
      await link.close();
      await settlesWithin(maxFlushMs, closed).catch(() => {});
      socket.destroy();
    },
  };
}
