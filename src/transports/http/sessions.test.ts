import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Log } from "../../core/effects.ts";
import { FakeEndpoint } from "../../../test/support/httpListen.ts";
import { FakeClock } from "../../../test/support/fakeClock.ts";
import type { EventStream } from "./eventStream.ts";
import { ReplayBudget } from "./replay.ts";
import { HttpSession, Sessions } from "./sessions.ts";

const anna = { id: "anna" };
let clock: FakeClock;
let endpoint: FakeEndpoint;
let sessions: Sessions;
const log = vi.fn<Log>();

beforeEach(() => {
  clock = new FakeClock();
  endpoint = new FakeEndpoint();
  sessions = new Sessions({ clock, log }, { max: 3, idleMs: 600_000 });
  log.mockClear();
});

function added(principal = anna): HttpSession {
  const session = new HttpSession(endpoint, principal, new ReplayBudget());
  sessions.add(session);
  return session;
}

/** Its client's GET opens; returns what ends it. */
function listening(session: HttpSession): () => void {
  const end = vi.fn<() => void>();
  session.log.standalone.connect({ isOpen: true, end } as unknown as EventStream, false);
  return end;
}

const isOpen = (session: HttpSession): boolean =>
  sessions.find(session.session.id, endpoint, anna) === session;

test("a session is found by its own endpoint and principal only", () => {
  const session = added();
  expect(isOpen(session)).toBe(true);
  expect(sessions.find(session.session.id, new FakeEndpoint(), anna)).toBeUndefined();
  expect(sessions.find(session.session.id, endpoint, { id: "ben" })).toBeUndefined();
  expect(sessions.find("unknown", endpoint, anna)).toBeUndefined();
});

test("ending a session tells its endpoint once and ends its stream", () => {
  const session = added();
  const end = listening(session);
  sessions.end(session);
  sessions.end(session);
  expect(endpoint.ended).toEqual([session.session]);
  expect(end).toHaveBeenCalledOnce();
  expect(isOpen(session)).toBe(false);
});

describe("expiry", () => {
  test("an idle session ends, one that is used does not", () => {
    const idle = added();
    const used = added();
    clock.advance(400_000);
    sessions.touch(used);
    clock.advance(300_000);
    expect(endpoint.ended).toEqual([idle.session]);
    expect(isOpen(used)).toBe(true);
    clock.advance(700_000);
    expect(isOpen(used)).toBe(false);
  });

  test("neither a request in flight nor an open stream is idle", () => {
    const busy = added();
    const heard = added();
    busy.active = 1;
    listening(heard);
    clock.advance(10_000_000);
    expect(isOpen(busy) && isOpen(heard)).toBe(true);
  });
});

describe("when full", () => {
  test("the longest idle one makes room, and the log says so", () => {
    const busy = added();
    busy.active = 1;
    clock.advance(1);
    const oldest = added();
    clock.advance(1);
    const newer = added();
    clock.advance(1);
    const newest = added();
    expect(endpoint.ended).toEqual([oldest.session]);
    expect([busy, newer, newest].every(isOpen)).toBe(true);
    expect(log).toHaveBeenCalledOnce();
  });

  test("if none is idle, the one used longest ago makes room", () => {
    const all = [1, 2, 3].map(() => {
      const session = added();
      session.active = 1;
      clock.advance(1);
      return session;
    });
    added();
    expect(all.map(isOpen)).toEqual([false, true, true]);
  });
});

test("however many sessions somebody opens, those of others stay", () => {
  const session = added();
  for (let at = 0; at < 10; at++) added({ id: "ben" });
  expect(isOpen(session)).toBe(true);
  expect(endpoint.ended).toHaveLength(7);
});

test("close ends them all and leaves no timer", () => {
  added();
  added();
  sessions.close();
  expect(endpoint.ended).toHaveLength(2);
  expect(clock.pending).toBe(0);
});
