import type { Server } from "node:net";
import type { Log } from "../core/effects.ts";

/** What the doors whose connections stay have in common. */
export interface SocketListenOptions {
  readonly log: Log;
  /** Default 4 MiB. */
  readonly maxMessageBytes?: number;
  /** Connections at once, idle ones included; what comes beyond is closed at once. Default 1,000. */
  readonly maxConnections?: number;
}

export interface SocketListener {
  /** `tcp://127.0.0.1:7071`, `ws://127.0.0.1:7072`, or `unix:/run/toolgate.sock`. */
  readonly url: string;
  /** Stops listening and ends every connection; what clients do not read within a second is lost. Safe to call twice. */
  close(): Promise<void>;
}

/** Bounds the connections of a server that is about to listen, and says once that some were turned away. */
export function limitConnections(server: Server, { log, maxConnections = 1_000 }: SocketListenOptions): void {
  server.maxConnections = maxConnections;
  server.once("drop", () =>
    log("warning", `There are ${maxConnections} connections to one door: further ones are closed at once.`),
  );
  // After it listens: there is nobody left to reject.
  server.on("listening", () => server.on("error", (error) => log("error", `Door: ${error.message}`)));
}
