import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createInterface } from "node:readline";

/**
 * Hears what the fixture programs tell of themselves, each over a connection of its own (`fixtures/witness.mjs`).
 * The end of a connection is that of its process, in whatever PID namespace that is.
 */
export class Witness {
  /** All that was told, each line as `NAME EVENT`, in the order in which it came. */
  readonly lines: string[] = [];
  /** For the environment of the fixtures. */
  readonly env: { readonly WITNESS_PORT: string };
  readonly #server: Server;
  readonly #connections = new Map<Socket, string>();
  readonly #waiting = new Set<() => void>();

  private constructor(server: Server) {
    this.#server = server;
    this.env = { WITNESS_PORT: String((server.address() as AddressInfo).port) };
    server.on("connection", (socket) => this.#meet(socket));
  }

  static async listen(): Promise<Witness> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Witness(server);
  }

  /** Resolves when this line has been told, `times` times. */
  heard(line: string, times = 1): Promise<void> {
    return this.#until(() => this.lines.filter((one) => one === line).length >= times);
  }

  /** Says a line to every process of that name. */
  say(name: string, line: string): void {
    for (const [socket, owner] of this.#connections) if (owner === name) socket.write(`${line}\n`);
  }

  /** Resolves when no process is left of those that have told anything. */
  allGone(): Promise<void> {
    return this.#until(() => this.#connections.size === 0);
  }

  async close(): Promise<void> {
    for (const socket of this.#connections.keys()) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #meet(socket: Socket): void {
    this.#connections.set(socket, "");
    createInterface({ input: socket }).on("line", (line) => {
      this.#connections.set(socket, line.split(" ")[0] ?? "");
      this.lines.push(line);
      this.#look();
    });
    // A process that was killed may reset its connection.
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#connections.delete(socket);
      this.#look();
    });
  }

  #until(predicate: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!predicate()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  #look(): void {
    for (const look of this.#waiting) look();
  }
}
