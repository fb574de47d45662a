import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "./systemClock.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("now() never goes back and counts milliseconds", () => {
  const before = systemClock.now();
  vi.advanceTimersByTime(250);
  expect(systemClock.now() - before).toBe(250);
});

test("a timer fires once", () => {
  const fn = vi.fn<() => void>();
  systemClock.timer(fn, 100);
  vi.advanceTimersByTime(99);
  expect(fn).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1_000);
  expect(fn).toHaveBeenCalledTimes(1);
});

test("restart starts the same span again, also after stop and after firing", () => {
  const fn = vi.fn<() => void>();
  const timer = systemClock.timer(fn, 100);
  vi.advanceTimersByTime(99);
  timer.restart();
  vi.advanceTimersByTime(99);
  expect(fn).not.toHaveBeenCalled();
  timer.stop();
  vi.advanceTimersByTime(100);
  expect(fn).not.toHaveBeenCalled();
  timer.restart();
  vi.advanceTimersByTime(100);
  expect(fn).toHaveBeenCalledTimes(1);
  timer.restart();
  vi.advanceTimersByTime(100);
  expect(fn).toHaveBeenCalledTimes(2);
});

test("a span longer than timers can count does not fire at once", () => {
  const fn = vi.fn<() => void>();
  const timer = systemClock.timer(fn, 2 ** 40);
  vi.advanceTimersByTime(60_000);
  expect(fn).not.toHaveBeenCalled();
  timer.stop();
});

test("a timer does not keep the process alive", () => {
  vi.useRealTimers();
  const seen: NodeJS.Timeout[] = [];
  const real = globalThis.setTimeout;
  const spy = vi.spyOn(globalThis, "setTimeout").mockImplementation(((fn: () => void, ms: number) => {
    const handle = real(fn, ms);
    seen.push(handle);
    return handle;
  }) as typeof setTimeout);
  const timer = systemClock.timer(() => {}, 60_000);
  expect(seen.map((handle) => handle.hasRef())).toEqual([false]);
  timer.stop();
  spy.mockRestore();
});
