import { once } from "node:events";
import { PassThrough } from "node:stream";
import { describe, expect, test, vi } from "vitest";
import type { Child, ExitStatus, Spawn, SpawnOptions } from "../core/spawn.ts";
import type { Endpoint } from "../wire/endpoint.ts";
import { encode, resultResponse, type JsonRpcMessage } from "../wire/jsonrpc.ts";
import type { LinkEvents } from "../wire/link.ts";
import { dialStdio, serveStdio } from "./stdio.ts";

const ping: JsonRpcMessage = { jsonrpc: "2.0", id: 1, method: "ping" };
const what: SpawnOptions = { command: "server", args: ["--fast"], env: { A: "1" }, cwd: "/somewhere" };

/** A child in memory, which ends when told to, or when it is stopped. */
function fakeChild() {
  let exit: (status: ExitStatus) => void = () => {};
  const exited = new Promise<ExitStatus>((resolve) => (exit = resolve));
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const end = (status: ExitStatus): void => {
    stdout.end();
    stderr.end();
    exit(status);
  };
  const stop = vi.fn<Child["stop"]>(async () => end({ code: 0, signal: null }));
  const child: Child = { pid: 7, stdin, stdout, stderr, exited, stop };
  return { child, stdin, stdout, stderr, end, exit, stop };
}

function dialling(child: Child) {
  const spawn = vi.fn<Spawn>(() => child);
  const events = { message: vi.fn<LinkEvents["message"]>(), closed: vi.fn<LinkEvents["closed"]>() };
  const onStderr = vi.fn<(line: string) => void>();
  return { spawn, events, onStderr, dial: dialStdio({ ...what, spawn, onStderr, maxMessageBytes: 1000 }) };
}

async function reasonOf(events: { closed: ReturnType<typeof vi.fn<LinkEvents["closed"]>> }): Promise<string> {
  await vi.waitFor(() => expect(events.closed).toHaveBeenCalled());
  return events.closed.mock.calls[0]?.[0].message ?? "";
}

describe("dialStdio", () => {
  test("starts the command and passes messages both ways", async () => {
    const { child, stdin, stdout } = fakeChild();
    const { dial, events, spawn } = dialling(child);
    const link = await dial(events);
    expect(spawn.mock.calls[0]?.[0]).toMatchObject(what);
    const sent = once(stdin, "data");
    void link.send(ping);
    expect(String(await sent)).toBe(`${encode(ping)}\n`);
    stdout.write(`${encode(resultResponse(1, {}))}\nwelcome!\n${"x".repeat(1001)}\n`);
    await vi.waitFor(() => expect(events.message).toHaveBeenCalledTimes(3));
    expect(events.message.mock.calls.map(([incoming]) => incoming)).toEqual([
      { kind: "response", message: resultResponse(1, {}) },
      { kind: "invalid", reason: "parse" },
      { kind: "invalid", reason: "size", limit: 1000 },
    ]);
  });

  test("a command that does not start rejects with the reason", async () => {
    const exited = Promise.reject<ExitStatus>(new Error('Cannot start "server": command not found.'));
    const { dial, events } = dialling({ ...fakeChild().child, pid: undefined, exited });
    await expect(dial(events)).rejects.toThrow("command not found");
    expect(events.closed).not.toHaveBeenCalled();
  });

  test.each([
    [{ code: 1, signal: null }, "the process exited with code 1"],
    [{ code: null, signal: "SIGSEGV" }, "the process was ended by SIGSEGV"],
  ])("the end of the process is told once: %j", async (status, message) => {
    const { child, end } = fakeChild();
    const { dial, events } = dialling(child);
    const link = await dial(events);
    end(status);
    expect(await reasonOf(events)).toBe(message);
    await link.close();
    expect(events.closed).toHaveBeenCalledTimes(1);
    expect(() => link.send(ping)).toThrow("closed");
  });

  test("with the last of what it said on standard error, which is also passed on", async () => {
    const { child, stderr, end } = fakeChild();
    const { dial, events, onStderr } = dialling(child);
    await dial(events);
    for (let line = 1; line <= 100; line++) stderr.write(`line ${line}\r\n`);
    end({ code: 2, signal: null });
    const words = (await reasonOf(events)).split("its last words: ")[1]?.split("\n");
    expect(words).toEqual(Array.from({ length: 20 }, (_, index) => `line ${index + 81}`));
    expect(onStderr).toHaveBeenCalledTimes(100);
    expect(onStderr).toHaveBeenLastCalledWith("line 100");
  });

  test("the last words are bounded in length too", async () => {
    const { child, stderr, end } = fakeChild();
    const { dial, events } = dialling(child);
    await dial(events);
    stderr.write(`${"a".repeat(3000)}\n${"b".repeat(70_000)}\n${"c".repeat(3000)}\n`);
    end({ code: 2, signal: null });
    const reason = await reasonOf(events);
    expect(reason).toContain("[a line of more than 65536 bytes]\nccc");
    expect(reason).not.toContain("aaa");
  });

  test("close stops the process and tells nothing", async () => {
    const { child, stop } = fakeChild();
    const { dial, events } = dialling(child);
    const link = await dial(events);
    await link.close();
    expect(stop).toHaveBeenCalled();
    await child.exited;
    expect(events.closed).not.toHaveBeenCalled();
  });

  test("a process that only closes its output is stopped", async () => {
    const { child, stdout, stop } = fakeChild();
    const { dial, events } = dialling(child);
    await dial(events);
    stdout.end();
    expect(await reasonOf(events)).toBe("the process exited with code 0");
    expect(stop).toHaveBeenCalled();
  });

  test("an output that somebody else still holds does not hide the end", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { child, exit, stdout } = fakeChild();
      const { dial, events } = dialling(child);
      await dial(events);
      exit({ code: 9, signal: null });
      await vi.advanceTimersByTimeAsync(1000);
      expect(events.closed).toHaveBeenCalledTimes(1);
      stdout.write(`${encode(ping)}\n`);
      await vi.advanceTimersByTimeAsync(1000);
      expect(events.message).not.toHaveBeenCalled();
    } finally {
      vi.useRealTimers();
    }
  });
});

test("serveStdio serves the principal local over the streams it is given", async () => {
  const principals: string[] = [];
  const endpoint: Endpoint = {
    handle(_, { principal }) {
      principals.push(principal.id);
      return { text: "{}", status: 200 };
    },
    closed: () => {},
  };
  const input = new PassThrough();
  const output = new PassThrough();
  const server = serveStdio(endpoint, { input, output, log: () => {} });
  input.end(`${encode(ping)}\n`);
  expect((await output.toArray()).join("")).toBe("{}\n");
  await server.closed;
  expect(principals).toEqual(["local"]);
});
