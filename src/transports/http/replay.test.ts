import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import type { EventStream } from "./eventStream.ts";
import { ReplayBudget, ReplayLog } from "./replay.ts";
import type { ResumableStream } from "./resumable.ts";

/** A connection that keeps what is written to it. */
class FakeOut {
  readonly ids: string[] = [];
  readonly texts: string[] = [];
  readonly fields: string[] = [];
  isOpen = true;

  sendText(text: string, id: string): void {
    if (!this.isOpen) return;
    this.texts.push(text);
    this.ids.push(id);
  }

  readonly sendDroppable = this.sendText.bind(this);

  sendFields(...lines: string[]): void {
    this.fields.push(...lines);
  }

  end(text?: string, id = ""): void {
    if (text !== undefined) this.sendText(text, id);
    this.isOpen = false;
  }
}

const asStream = (out: FakeOut): EventStream => out as unknown as EventStream;
const message = (at: number, data = "") => ({ jsonrpc: "2.0" as const, method: `n${at}`, params: { data } });
const texts = (...at: number[]): string[] => at.map((n) => JSON.stringify(message(n)));

let budget: ReplayBudget;
let log: ReplayLog;

beforeEach(() => {
  budget = new ReplayBudget({ bytes: 10_000, events: 100, totalBytes: 15_000 });
  log = new ReplayLog(budget);
});

function connected(stream: ResumableStream, prime = false): FakeOut {
  const out = new FakeOut();
  stream.connect(asStream(out), prime);
  return out;
}

/** What a client gets that names `id`; undefined if it is refused. */
function resumed(id: string, from = log): FakeOut | undefined {
  const at = from.find(id);
  if (!at) return undefined;
  const out = new FakeOut();
  at.stream.resume(asStream(out), at.position);
  return out;
}

describe("a stream", () => {
  test("goes on after the event that its client names, with its later events and its reply", () => {
    const stream = log.open();
    const first = connected(stream);
    for (const at of [1, 2, 3]) stream.send(message(at));
    first.isOpen = false;
    stream.send(message(4));
    const second = resumed(first.ids[1]!);
    expect(second?.texts).toEqual(texts(3, 4));
    stream.send(message(5));
    stream.end("reply");
    expect(second?.texts).toEqual([...texts(3, 4, 5), "reply"]);
    expect(second?.isOpen).toBe(false);
    expect(new Set([...first.ids, ...second!.ids]).size).toBe(6);
    expect(resumed(second!.ids[0]!)?.texts).toEqual([...texts(4, 5), "reply"]);
  });

  test("ends the connection from which another takes it over", () => {
    const stream = log.open();
    const first = connected(stream);
    stream.send(message(1));
    const second = resumed(first.ids[0]!);
    expect([first.isOpen, second?.isOpen]).toEqual([false, true]);
    stream.send(message(2));
    expect([first.texts, second?.texts]).toEqual([texts(1), texts(2)]);
  });

  test("that is over ends a connection as soon as it has the rest", () => {
    const stream = log.open();
    const out = connected(stream);
    stream.send(message(1));
    stream.end("reply");
    expect(resumed(out.ids[0]!)).toMatchObject({ texts: ["reply"], isOpen: false });
    expect(log.find(out.ids[1]!)?.stream.isDone(2)).toBe(true);
    expect(log.find(out.ids[0]!)?.stream.isDone(1)).toBe(false);
  });

  test("tells how to come back before anything else, where its client takes that", () => {
    const out = connected(log.open(), true);
    expect(out.fields).toEqual([`id: ${log.tag}-1-0`, "retry: 1000", "data:"]);
    expect(resumed(`${log.tag}-1-0`)?.texts).toEqual([]);
    expect(connected(log.open()).fields).toEqual([]);
  });

  test("is paused only where its client was told how to come back", () => {
    const [primed, plain] = [log.open(), log.open()];
    const outs = [connected(primed, true), connected(plain)];
    primed.pause();
    plain.pause();
    expect(outs.map(({ isOpen }) => isOpen)).toEqual([false, true]);
    primed.end("reply");
    expect(resumed(`${log.tag}-1-0`)?.texts).toEqual(["reply"]);
  });
});

describe("what belongs to no request", () => {
  test("waits for a connection, and is sent to one only", () => {
    log.standalone.send(message(1));
    const first = connected(log.standalone);
    log.standalone.send(message(2));
    first.isOpen = false;
    log.standalone.send(message(3));
    expect(first.texts).toEqual(texts(1, 2));
    expect(connected(log.standalone, true)).toMatchObject({
      texts: texts(3),
      fields: [`id: ${log.tag}-0-2`, "retry: 1000", "data:"],
    });
  });

  test("is never mixed with what belongs to one", () => {
    const stream = log.open();
    const out = connected(stream);
    stream.send(message(1));
    log.standalone.send(message(2));
    stream.send(message(3));
    expect(resumed(out.ids[0]!)?.texts).toEqual(texts(3));
    expect(connected(log.standalone).texts).toEqual(texts(2));
  });
});

describe("bounds", () => {
  test("ten thousand events: the newest are kept, and a client that has missed older ones is refused", () => {
    const stream = log.open();
    const out = connected(stream);
    for (let at = 1; at <= 10_000; at++) stream.send(message(at));
    expect(out.texts).toHaveLength(10_000);
    expect(log.find(out.ids[9_898]!)).toBeUndefined();
    expect(resumed(out.ids[9_899]!)?.ids).toEqual(out.ids.slice(9_900));
  });

  test("bytes: the oldest go first, whichever their stream", () => {
    const [early, late] = [log.open(), log.open()];
    const out = connected(early);
    early.send(message(1, "x".repeat(3_000)));
    for (let at = 2; at <= 3; at++) late.send(message(at, "é".repeat(2_000)));
    expect(budget.bytes).toBeLessThanOrEqual(10_000);
    expect(log.find(`${log.tag}-1-0`)).toBeUndefined();
    expect(log.find(`${log.tag}-2-0`)).toBeDefined();
    // What it has got itself is no loss.
    expect(log.find(out.ids[0]!)).toBeDefined();
  });

  test("a message beyond them goes out, and cannot be had again", () => {
    const stream = log.open();
    const out = connected(stream, true);
    stream.end("x".repeat(20_000));
    expect(out.texts).toHaveLength(1);
    expect([budget.bytes, log.isEmpty]).toEqual([0, true]);
    expect(log.find(`${log.tag}-1-0`)).toBeUndefined();
  });

  test("in all: the session that has sent nothing for the longest loses what it keeps", () => {
    const logs = [log, new ReplayLog(budget), new ReplayLog(budget)];
    for (const { standalone } of logs) standalone.send(message(1, "x".repeat(4_500)));
    logs[0]!.standalone.send(message(2));
    logs[2]!.standalone.send(message(3, "x".repeat(4_500)));
    expect(logs.map(({ isEmpty }) => isEmpty)).toEqual([false, true, false]);
    expect(budget.bytes).toBeLessThanOrEqual(15_000);
    expect(connected(logs[1]!.standalone).texts).toEqual([]);
  });

  test("a session that has ended keeps nothing, and its streams end", () => {
    const out = connected(log.standalone);
    const stream = log.open();
    const other = connected(stream);
    stream.send(message(1));
    log.standalone.send(message(2));
    log.close();
    stream.send(message(3));
    log.standalone.send(message(4));
    stream.end("reply");
    expect([budget.bytes, log.isEmpty, out.isOpen, other.isOpen]).toEqual([0, true, false, false]);
    expect([other.texts, out.texts]).toEqual([texts(1), texts(2)]);
  });
});

describe("an id that names no event", () => {
  test.each([
    ["nothing", ""],
    ["a negative position", "TAG-0--1"],
    ["a position to come", "TAG-1-2"],
    ["a stream to come", "TAG-2-0"],
    ["a huge number", `TAG-1-${"9".repeat(400)}`],
    ["a long text", "x".repeat(10_000)],
    ["no number", "TAG-1-0x1"],
    ["another session", "00000000-1-1"],
  ])("%s", (_, id) => {
    log.open().send(message(1));
    expect(log.find(`${log.tag}-1-1`)).toBeDefined();
    expect(log.find(id.replace("TAG", log.tag))).toBeUndefined();
  });
});

const step = fc.record({
  stream: fc.nat(3),
  what: fc.constantFrom("send", "send", "send", "drop", "resume", "end"),
  bytes: fc.nat(400),
  from: fc.nat(),
});

test.each([
  ["or is refused, where little is kept", { bytes: 1_500, events: 12 }, false],
  ["where enough is kept", {}, true],
])("whoever comes back gets exactly what the stream has sent since, %s", (_, limits, mustBeKept) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const own = new ReplayBudget(limits);
      const kept = new ReplayLog(own);
      const streams = [kept.standalone, kept.open(), kept.open(), kept.open()].map((stream) => ({
        stream,
        out: connected(stream),
        all: [] as string[],
        over: false,
      }));
      for (const { stream: index, what, bytes, from } of steps) {
        const one = streams[index]!;
        if (what === "drop") one.out.isOpen = false;
        if (what === "send" && !one.over) {
          const sent = message(one.all.length + 1, "x".repeat(bytes));
          one.all.push(JSON.stringify(sent));
          one.stream.send(sent);
        }
        if (what === "end" && index > 0 && !one.over) {
          one.over = true;
          one.all.push(`"${index}"`);
          one.stream.end(`"${index}"`);
        }
        expect(own.bytes).toBeLessThanOrEqual(own.maxBytes);
        if (what !== "resume") continue;
        const position = from % (one.all.length + 1);
        const out = resumed(`${kept.tag}-${index}-${position}`, kept);
        one.out = out ?? one.out;
        const since = { texts: one.all.slice(position), isOpen: !one.over };
        expect([out && { texts: [...out.texts], isOpen: out.isOpen }]).toEqual([
          out || mustBeKept ? since : undefined,
        ]);
      }
    }),
  );
});
