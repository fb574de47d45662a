import { once } from "node:events";
import { connect, type NetConnectOpts } from "node:net";
import { createInterface } from "node:readline";
import type { JsonObject } from "../../src/core/json.ts";

/** A raw connection to a door that speaks a message a line. */
export interface LineClient {
  /** Goes out as it is. */
  write(bytes: string | Uint8Array): void;
  /** Goes out as JSON with a newline. */
  send(message: unknown): void;
  /** The next line that nobody has taken yet; rejects if the connection ends before. */
  answer(): Promise<JsonObject>;
  /** `send`, then `answer`. */
  ask(message: unknown): Promise<JsonObject>;
  /** Says that it will send no more. */
  leave(): void;
  /** Cuts the connection. */
  close(): Promise<void>;
  /** Resolves when the connection is closed, with all that came and was not taken. */
  readonly rest: Promise<string>;
}

export async function connectLines(target: NetConnectOpts): Promise<LineClient> {
  const socket = connect({ ...target, allowHalfOpen: true } as NetConnectOpts);
  await once(socket, "connect");
  // A door that refuses may reset what is still on its way.
  socket.on("error", () => {});
  socket.on("end", () => socket.end());
  const closed = once(socket, "close");
  const lines: string[] = [];
  const waiting: ((line: string) => void)[] = [];
  createInterface({ input: socket }).on("line", (line) => {
    const next = waiting.shift();
    if (next) next(line);
    else lines.push(line);
  });
  const answer = async (): Promise<JsonObject> => {
    const line =
      lines.shift() ??
      (await new Promise<string>((resolve, reject) => {
        waiting.push(resolve);
        closed.then(() => reject(new Error("the connection has ended")), reject);
      }));
    return JSON.parse(line) as JsonObject;
  };
  const send = (message: unknown): void => void socket.write(`${JSON.stringify(message)}\n`);
  return {
    write: (bytes) => void socket.write(bytes),
    send,
    answer,
    ask(message) {
      send(message);
      return answer();
    },
    leave: () => void socket.end(),
    async close() {
      socket.destroy();
      await closed;
    },
    rest: closed.then(() => lines.join("\n")),
  };
}
