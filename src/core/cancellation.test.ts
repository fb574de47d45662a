import { describe, expect, test, vi } from "vitest";
import { Cancellation } from "./cancellation.ts";

type Listener = (reason: unknown) => void;

test("starts uncancelled, and only the first cancel counts", () => {
  const cancellation = new Cancellation();
  expect(cancellation.cancelled).toBe(false);
  expect(cancellation.reason).toBeUndefined();
  cancellation.cancel("first");
  cancellation.cancel("second");
  expect(cancellation.cancelled).toBe(true);
  expect(cancellation.reason).toBe("first");
});

describe("the signal", () => {
  test("is made once, on first use", () => {
    const made = vi.spyOn(globalThis, "AbortController");
    const cancellation = new Cancellation();
    cancellation.onCancel(() => {});
    const child = cancellation.child();
    expect(made).not.toHaveBeenCalled();
    expect(child.signal).toBe(child.signal);
    expect(made).toHaveBeenCalledTimes(1);
    made.mockRestore();
  });

  test("is aborted with the reason, whether asked for before or after", () => {
    const cancellation = new Cancellation();
    const before = cancellation.signal;
    expect(before.aborted).toBe(false);
    cancellation.cancel("gone");
    expect(before.reason).toBe("gone");

    const late = new Cancellation();
    late.cancel("gone");
    expect(late.signal.aborted).toBe(true);
    expect(late.signal.reason).toBe("gone");
  });
});

describe("listeners", () => {
  test("one that throws keeps no other from hearing, and does not reach who cancels", () => {
    const cancellation = new Cancellation();
    const listener = vi.fn<Listener>();
    const broken = (): never => {
      throw new Error("broken");
    };
    cancellation.onCancel(broken);
    cancellation.onCancel(listener);
    cancellation.cancel("gone");
    expect(listener).toHaveBeenCalledExactlyOnceWith("gone");
    expect(() => cancellation.onCancel(broken)).not.toThrow();
  });

  test("run at once, in the order in which they came, once", () => {
    const cancellation = new Cancellation();
    const seen: string[] = [];
    cancellation.onCancel((reason) => seen.push(`1 ${String(reason)}`));
    cancellation.onCancel((reason) => seen.push(`2 ${String(reason)}`));
    cancellation.cancel("gone");
    cancellation.cancel("again");
    expect(seen).toEqual(["1 gone", "2 gone"]);
  });

  test("run at once if it is already cancelled", () => {
    const cancellation = new Cancellation();
    cancellation.cancel("gone");
    const listener = vi.fn<Listener>();
    const stop = cancellation.onCancel(listener);
    expect(listener).toHaveBeenCalledExactlyOnceWith("gone");
    expect(stop).not.toThrow();
  });

  test("that stopped do not run, even if stopped by an earlier one", () => {
    const cancellation = new Cancellation();
    const second = vi.fn<Listener>();
    const third = vi.fn<Listener>();
    cancellation.onCancel(() => stopSecond());
    const stopSecond = cancellation.onCancel(second);
    cancellation.onCancel(third)();
    cancellation.cancel("gone");
    expect(second).not.toHaveBeenCalled();
    expect(third).not.toHaveBeenCalled();
  });

  test("that come during the cancelling run as well", () => {
    const cancellation = new Cancellation();
    const late = vi.fn<Listener>();
    cancellation.onCancel(() => cancellation.onCancel(late));
    cancellation.cancel("gone");
    expect(late).toHaveBeenCalledExactlyOnceWith("gone");
  });
});

describe("a child", () => {
  test("ends with its parent", () => {
    const parent = new Cancellation();
    const child = parent.child();
    parent.cancel("gone");
    expect(child.reason).toBe("gone");
    expect(parent.child().reason).toBe("gone");
  });

  test("ends alone without its parent", () => {
    const parent = new Cancellation();
    const child = parent.child();
    child.cancel("alone");
    expect(parent.cancelled).toBe(false);
    parent.cancel("gone");
    expect(child.reason).toBe("alone");
  });

  test("that is released follows no more", () => {
    const parent = new Cancellation();
    const child = parent.child();
    child.release();
    child.release();
    parent.cancel("gone");
    expect(child.cancelled).toBe(false);
  });
});

describe("from a signal", () => {
  test("follows it", () => {
    const controller = new AbortController();
    const cancellation = Cancellation.from(controller.signal);
    expect(cancellation.cancelled).toBe(false);
    controller.abort("gone");
    expect(cancellation.reason).toBe("gone");
  });

  test("is cancelled if it is aborted already", () => {
    expect(Cancellation.from(AbortSignal.abort("gone")).reason).toBe("gone");
  });

  test("leaves nothing on it once released", () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    Cancellation.from(signal).release();
    expect(removed.mock.calls).toEqual([added.mock.calls[0]!.slice(0, 2)]);
  });
});
