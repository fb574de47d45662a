import { createInterface } from "node:readline";
import { initialize, initialized, messageFor, toolsCall } from "../requests.mjs";

/** Calls over a child's standard input and output, `concurrency` in flight. Returns `run(calls)`. */
export async function stdioLoad({ child, tool, era, handshake, concurrency }) {
  /** @type {Map<number, { resolve(line: string): void, reject(error: Error): void }>} */
  const waiting = new Map();
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    const { id } = JSON.parse(line);
    waiting.get(id)?.resolve(line);
    waiting.delete(id);
  });
  lines.on("close", () => {
    for (const { reject } of waiting.values()) reject(new Error("the server closed its output"));
  });

  let id = 0;
  if (handshake) {
    await exchange(initialize);
    send(initialized);
  }

  return async function run(calls) {
    const last = id + calls;
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        while (id < last) await callOnce(++id);
      }),
    );
  };

  async function callOnce(callId) {
    const message = messageFor(callId);
    const line = await exchange(toolsCall(era, tool, callId, message));
    if (!line.includes(message)) throw new Error(`wrong answer: ${line}`);
  }

  function exchange(request) {
    return new Promise((resolve, reject) => {
      waiting.set(request.id, { resolve, reject });
      send(request);
    });
  }

  function send(message) {
    child.stdin.write(`${JSON.stringify(message)}\n`);
  }
}
