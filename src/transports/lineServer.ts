import { createServer, type Server, type Socket } from "node:net";
import type { Clock } from "../core/effects.ts";
import type { Endpoint } from "../wire/endpoint.ts";
import type { Gate } from "./messageServer.ts";
import { limitConnections, type SocketListenOptions } from "./socketListener.ts";
import { serveLines, type StreamServer } from "./stream.ts";

export interface LineServerOptions extends SocketListenOptions {
  readonly gate: Gate;
  readonly maxFirstBytes?: number;
  /** A client whose first message takes longer is cut off. Absent: it may take its time. */
  readonly patience?: { readonly clock: Clock; readonly ms: number };
}

/** Serves an endpoint to whoever connects, a message a line. The caller makes it listen. */
export class LineServer {
  readonly server: Server;
  readonly #endpoint: Endpoint;
  readonly #options: LineServerOptions;
  readonly #clients = new Set<StreamServer>();
  #closed: Promise<void> | undefined;

  constructor(endpoint: Endpoint, options: LineServerOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
    // Half-open: a client that has only stopped asking still gets the answers that are ready.
    this.server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#serve(socket));
    limitConnections(this.server, options);
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    const stopped = new Promise<void>((resolve) => this.server.close(() => resolve()));
    await Promise.all(Array.from(this.#clients, (client) => client.close()));
    await stopped;
  }

  #serve(socket: Socket): void {
    const { gate, patience, log, maxMessageBytes, maxFirstBytes } = this.#options;
    const timer = patience?.clock.timer(() => void client.close(), patience.ms);
    const client = serveLines(this.#endpoint, {
      input: socket,
      output: socket,
      log,
      gate: {
        ...gate,
        admit(first) {
          timer?.stop();
          return gate.admit(first);
        },
      },
      ...(maxMessageBytes !== undefined && { maxMessageBytes }),
      ...(maxFirstBytes !== undefined && { maxFirstBytes }),
    });
    this.#clients.add(client);
    void client.closed.then(() => {
      timer?.stop();
      this.#clients.delete(client);
    });
  }
}
