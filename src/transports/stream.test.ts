import { PassThrough, Writable } from "node:stream";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { Log } from "../core/effects.ts";
import { localPrincipal } from "../core/principal.ts";
import type { Endpoint, Exchange, Reply, Session } from "../wire/endpoint.ts";
import {
  encode,
  resultResponse,
  type Incoming,
  type JsonRpcMessage,
  type JsonRpcNotification,
} from "../wire/jsonrpc.ts";
import { serveStream, streamLink } from "./stream.ts";

const request = (id: number, params = {}): string =>
  `${encode({ jsonrpc: "2.0", id, method: "m", params })}\n`;

const reply = (id: number): Reply => ({ text: encode(resultResponse(id, {})), status: 200 });

const idOf = (incoming: Incoming): number =>
  incoming.kind === "request" ? Number(incoming.message.id) : Number.NaN;

/** Answers by `handle`; counts the sessions that ended. */
function endpointOf(handle: Endpoint["handle"]): Endpoint & { ended: Session[] } {
  const ended: Session[] = [];
  return { handle, closed: (session) => void ended.push(session), ended };
}

const echo = (): ReturnType<typeof endpointOf> => endpointOf((incoming) => reply(idOf(incoming)));

function serve(endpoint: Endpoint, output: Writable = new PassThrough(), maxMessageBytes?: number) {
  const input = new PassThrough();
  const log = vi.fn<Log>();
  const server = serveStream(endpoint, {
    input,
    output,
    principal: localPrincipal,
    log,
    ...(maxMessageBytes !== undefined && { maxMessageBytes }),
  });
  return { input, output, log, server };
}

async function idsFrom(output: Writable): Promise<number[]> {
  const text = (await (output as PassThrough).setEncoding("utf8").toArray()).join("");
  return text.split("\n").flatMap((line) => (line === "" ? [] : [Number(JSON.parse(line).id)]));
}

/** Resolves with what the output gets next. */
const nextWrite = (output: Writable): Promise<string> =>
  new Promise((resolve) =>
    (output as PassThrough).once("data", (chunk: Buffer) => resolve(chunk.toString())),
  );

describe("serveStream", () => {
  test("answers every message, wherever the bytes are split", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: "grapheme" })), fc.array(fc.nat()), async (texts, cuts) => {
        const seen: unknown[] = [];
        const endpoint = endpointOf((incoming) => {
          if (incoming.kind === "request") seen.push(incoming.message.params?.["text"]);
          return reply(idOf(incoming));
        });
        const { input, output } = serve(endpoint);
        const bytes = Buffer.from(texts.map((text, id) => request(id, { text })).join(""));
        const at = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
        for (const [index, cut] of [...at, bytes.length].entries())
          input.write(bytes.subarray(index === 0 ? 0 : at[index - 1], cut));
        input.end();
        expect(await idsFrom(output)).toEqual(texts.map((_, id) => id));
        expect(seen).toEqual(texts);
      }),
      { numRuns: 50 },
    );
  });

  test("a client that leaves its answers unread is cut off: they would fill the memory", async () => {
    const text = "x".repeat(64 * 1024 * 1024);
    const releases: ((reply: Reply) => void)[] = [];
    const endpoint = endpointOf(() => new Promise<Reply>((resolve) => void releases.push(resolve)));
    const unread = new Writable({ write: () => {} });
    const { input, server, log } = serve(endpoint, unread);
    for (let id = 1; id <= 6; id++) input.write(request(id));
    await vi.waitFor(() => expect(releases).toHaveLength(6));
    for (const release of releases) release({ text, status: 200 });
    await server.closed;
    expect(endpoint.ended).toHaveLength(1);
    expect(log.mock.calls.map(([, message]) => message)).toEqual([
      expect.stringContaining("leaves more than 268435456 bytes unread"),
    ]);
  });

  test("a slow call does not hold up a fast one", async () => {
    let finishSlow: (reply: Reply) => void = () => {};
    const slow = new Promise<Reply>((resolve) => (finishSlow = resolve));
    const endpoint = endpointOf((incoming) => (idOf(incoming) === 1 ? slow : reply(idOf(incoming))));
    const { input, output } = serve(endpoint);
    input.write(request(1) + request(2));
    expect(await nextWrite(output)).toBe(`${reply(2).text}\n`);
    finishSlow(reply(1));
    expect(await nextWrite(output)).toBe(`${reply(1).text}\n`);
  });

  test("what is answered in one turn goes out in one write", async () => {
    const writes: string[] = [];
    const output = new Writable({
      decodeStrings: false,
      write: (chunk: string, _, done) => {
        writes.push(chunk);
        done();
      },
    });
    const endpoint = endpointOf((incoming) =>
      idOf(incoming) % 2 ? reply(idOf(incoming)) : Promise.resolve(reply(idOf(incoming))),
    );
    const { input, server } = serve(endpoint, output);
    input.end([1, 2, 3, 4].map((id) => request(id)).join(""));
    await server.closed;
    expect(writes).toEqual([`${reply(1).text}\n${reply(3).text}\n`, `${reply(2).text}\n${reply(4).text}\n`]);
  });

  test("notifications come before the reply of their request", async () => {
    const endpoint = endpointOf((incoming, exchange) => {
      exchange.send({ jsonrpc: "2.0", method: "notifications/progress" });
      return reply(idOf(incoming));
    });
    const { input, output } = serve(endpoint);
    input.write(request(1));
    const [first, second] = (await nextWrite(output)).split("\n");
    expect(first).toContain("notifications/progress");
    expect(second).toBe(reply(1).text);
  });

  test("a message over the limit is told with the limit, and the connection goes on", async () => {
    const seen: Incoming[] = [];
    const endpoint = endpointOf((incoming) => {
      seen.push(incoming);
      return incoming.kind === "request" ? reply(idOf(incoming)) : undefined;
    });
    const { input, output } = serve(endpoint, new PassThrough(), 100);
    input.end(`${"x".repeat(101)}\n${request(7)}`);
    expect(await idsFrom(output)).toEqual([7]);
    expect(seen[0]).toEqual({ kind: "invalid", reason: "size", limit: 100 });
  });

  test("the end of the input ends the session, which cancels what runs, once, and ends the output", async () => {
    let exchange: Exchange | undefined;
    const endpoint = endpointOf((_, its) => {
      exchange = its;
      return new Promise(() => {});
    });
    const { input, output, server } = serve(endpoint);
    input.end(request(1));
    await server.closed;
    await server.close();
    expect(endpoint.ended).toEqual([exchange?.session]);
    expect(output.writableEnded).toBe(true);
  });

  test("a client that does not read misses progress, and no answer", async () => {
    const line = encode({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { text: "x".repeat(1000) },
    });
    const endpoint = endpointOf((incoming, exchange) => {
      for (let n = 0; n < 5000; n++) exchange.send(JSON.parse(line) as JsonRpcNotification);
      return reply(idOf(incoming));
    });
    const { input, output, log } = serve(endpoint);
    input.end(request(1) + request(2));
    const text = (await (output as PassThrough).setEncoding("utf8").toArray()).join("");
    expect(text.length).toBeLessThan(1024 * 1024 + 2 * line.length + 200);
    expect(text.split("\n").flatMap((one) => (one === "" ? [] : (JSON.parse(one).id ?? [])))).toEqual([1, 2]);
    expect(log).toHaveBeenCalledTimes(1);
  });

  test("a client that does not read is told of every change, and cut off before they fill the memory", async () => {
    const params = { text: "x".repeat(1024 * 1024) };
    const changed = { jsonrpc: "2.0", method: "notifications/resources/updated", params } as const;
    let told = 0;
    const endpoint = endpointOf((_, exchange) => {
      while (exchange.send(changed)) told += 1;
      return undefined;
    });
    const { input, server } = serve(endpoint);
    input.write(request(1));
    await server.closed;
    expect(told).toBeGreaterThan(32);
    expect(told).toBeLessThan(70);
    expect(endpoint.ended).toHaveLength(1);
  });

  test("answers that are ready when the input ends still go out, a last line without newline included", async () => {
    const endpoint = endpointOf(async (incoming) => reply(idOf(incoming)));
    const { input, output } = serve(endpoint);
    input.end(request(1) + request(2).trimEnd());
    expect(await idsFrom(output)).toEqual([1, 2]);
  });

  test("an answer after the end goes nowhere and breaks nothing", async () => {
    let finish: (reply: Reply) => void = () => {};
    const endpoint = endpointOf(() => new Promise((resolve) => (finish = resolve)));
    const { input, output, server } = serve(endpoint);
    input.write(request(1));
    await vi.waitFor(() => expect(input.readableLength).toBe(0));
    await server.close();
    finish(reply(1));
    await Promise.resolve();
    expect(await idsFrom(output).catch(() => [])).toEqual([]);
  });

  test("a client that stopped reading (EPIPE) is gone", async () => {
    const output = new Writable({
      write: (_chunk, _encoding, done) => done(new Error("write EPIPE")),
    });
    const endpoint = echo();
    const { input, log, server } = serve(endpoint, output);
    input.write(request(1));
    await server.closed;
    expect(endpoint.ended).toHaveLength(1);
    expect(input.destroyed).toBe(true);
    expect(log).toHaveBeenCalledWith("info", expect.stringContaining("EPIPE"));
  });

  test("an input that fails is the end of the client", async () => {
    const endpoint = echo();
    const { input, output, server } = serve(endpoint);
    input.write(request(1));
    await nextWrite(output);
    input.destroy(new Error("read ECONNRESET"));
    await server.closed;
    expect(endpoint.ended).toHaveLength(1);
  });

  test("nothing is read while the output is full", async () => {
    const held: (() => void)[] = [];
    const output = new Writable({
      highWaterMark: 1,
      write: (_chunk, _encoding, done) => void held.push(done),
    });
    const endpoint = echo();
    const handle = vi.spyOn(endpoint, "handle");
    const { input } = serve(endpoint, output);
    input.write(request(1));
    await vi.waitFor(() => expect(held).toHaveLength(1));
    input.write(request(2));
    await new Promise((resolve) => setImmediate(resolve));
    expect(handle).toHaveBeenCalledTimes(1);
    held[0]?.();
    await vi.waitFor(() => expect(handle).toHaveBeenCalledTimes(2));
  });

  test("long answers of one turn go out in several pieces: one string could not hold them all", async () => {
    const text = "x".repeat(1024 * 1024);
    const written: number[] = [];
    const output = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        written.push(chunk.length);
        done();
      },
    });
    const { input, server } = serve(
      endpointOf(() => Promise.resolve({ text, status: 200 })),
      output,
    );
    input.end(Array.from({ length: 5 }, (_, id) => request(id)).join(""));
    await server.closed;
    expect(written).toEqual(Array(5).fill(text.length + 1));
  });

  test("close does not wait for ever for a client that reads nothing", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const output = new Writable({ write: () => {} });
      const { input, server } = serve(echo(), output);
      const written = new Promise((resolve) => input.once("data", resolve));
      input.write(request(1));
      await written;
      const closed = server.close();
      vi.runAllTimers();
      await closed;
      expect(output.destroyed).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("streamLink", () => {
  function dial(maxMessageBytes?: number) {
    const input = new PassThrough();
    const output = new PassThrough();
    const messages: Incoming[] = [];
    const closed = vi.fn<(error: Error) => void>();
    const link = streamLink({
      input,
      output,
      events: { message: (incoming) => void messages.push(incoming), closed },
      ...(maxMessageBytes !== undefined && { maxMessageBytes }),
    });
    return { input, output, messages, closed, link };
  }

  const ping: JsonRpcMessage = { jsonrpc: "2.0", id: 1, method: "ping" };

  test("sends a message as a line", async () => {
    const { link, output } = dial();
    void link.send(ping);
    expect(await nextWrite(output)).toBe(`${encode(ping)}\n`);
  });

  test("a banner and an oversized line are invalid messages, and the link goes on", async () => {
    const { input, messages, closed } = dial(100);
    input.write(`Server listening\n${"x".repeat(101)}\n${encode(ping)}\n`);
    await vi.waitFor(() => expect(messages).toHaveLength(3));
    expect(messages).toEqual([
      { kind: "invalid", reason: "parse" },
      { kind: "invalid", reason: "size", limit: 100 },
      { kind: "request", message: ping },
    ]);
    expect(closed).not.toHaveBeenCalled();
  });

  test("the end of the input is told once, and nothing can be sent afterwards", async () => {
    const { input, closed, link } = dial();
    input.end();
    await vi.waitFor(() => expect(closed).toHaveBeenCalled());
    input.destroy();
    expect(closed).toHaveBeenCalledTimes(1);
    expect(() => link.send(ping)).toThrow("closed");
  });

  test("an output that fails is told with the reason", async () => {
    const { output, closed } = dial();
    output.destroy(new Error("write EPIPE"));
    await vi.waitFor(() => expect(closed).toHaveBeenCalled());
    expect(closed.mock.calls[0]?.[0].message).toContain("EPIPE");
  });

  test("a peer that does not read costs a bounded amount of memory", async () => {
    const { link, output, closed } = dial();
    const message: JsonRpcMessage = { ...ping, params: { text: "x".repeat(8 * 1024 * 1024) } };
    for (let n = 0; n < 8; n++) void link.send(message);
    expect(() => link.send(ping)).toThrow("does not read what it is sent");
    expect(closed).not.toHaveBeenCalled();
    output.resume();
    await vi.waitFor(() => expect(() => link.send(ping)).not.toThrow());
  });

  test("close sends what was written and tells nothing", async () => {
    const { input, output, closed, messages, link } = dial();
    void link.send(ping);
    await link.close();
    input.end(`${encode(ping)}\n`);
    expect((await output.toArray()).join("")).toBe(`${encode(ping)}\n`);
    await new Promise((resolve) => setImmediate(resolve));
    expect(messages).toEqual([]);
    expect(closed).not.toHaveBeenCalled();
  });
});
