import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { failure } from "../../../test/support/connected.ts";
import { FakeClock, settle } from "../../../test/support/fakeClock.ts";
import { deferred, type Deferred } from "../../../test/support/providers.ts";
import type { JsonObject } from "../../core/json.ts";
import { RpcError } from "../../wire/jsonrpc.ts";
import { Subscription } from "./subscription.ts";

interface Listen {
  readonly id: number;
  readonly notifications: JsonObject;
  readonly end: Deferred<unknown>;
  cancelled: boolean;
}

/** A subscription to whatever `wanted` is, and the requests that it made. */
function subscribing() {
  const clock = new FakeClock();
  const listens: Listen[] = [];
  const self = { wanted: { n: 0 } as JsonObject | undefined, gaps: 0 };
  const subscription = new Subscription({
    clock,
    filter: () => self.wanted,
    listen(notifications, { cancellation, onId }) {
      const listen: Listen = { id: listens.length + 1, notifications, end: deferred(), cancelled: false };
      listens.push(listen);
      onId?.(listen.id);
      cancellation?.onCancel(() => {
        listen.cancelled = true;
        listen.end.reject(new Error("cancelled"));
      });
      return listen.end.promise;
    },
    onGap: () => void (self.gaps += 1),
  });
  const change = (n: number): Promise<JsonObject> => {
    self.wanted = { n };
    return subscription.changed();
  };
  const acknowledge = (listen = listens.at(-1)!): void =>
    subscription.acknowledged(listen.id, listen.notifications);
  /** The requests that are open. */
  const open = () =>
    listens.filter(({ cancelled }) => !cancelled).map(({ notifications }) => notifications["n"]);
  return { clock, listens, self, subscription, change, acknowledge, open };
}

test("resolves with what the server agrees to tell", async () => {
  const { subscription, change, listens } = subscribing();
  const told = change(1);
  expect(listens.map(({ notifications }) => notifications)).toEqual([{ n: 1 }]);
  subscription.acknowledged(1, { n: "less" });
  expect(await told).toEqual({ n: "less" });
});

test("another takes its place only once that is acknowledged; changes meanwhile are one more", async () => {
  const { change, acknowledge, open, self } = subscribing();
  const first = change(1);
  acknowledge();
  const second = change(2);
  const rest = [3, 4, 5].map(change);
  expect(open()).toEqual([1, 2]);
  acknowledge();
  expect(open()).toEqual([2, 5]);
  acknowledge();
  expect(open()).toEqual([5]);
  expect(await Promise.all([first, second, ...rest])).toEqual([
    { n: 1 },
    { n: 2 },
    { n: 5 },
    { n: 5 },
    { n: 5 },
  ]);
  expect(self.gaps).toBe(0);
});

test("an acknowledgement that comes twice, of another or of nothing changes nothing", async () => {
  const { subscription, change, acknowledge, listens, open } = subscribing();
  subscription.acknowledged(1, {});
  subscription.acknowledged(undefined, {});
  void change(1);
  subscription.acknowledged(99, {});
  subscription.acknowledged(undefined, {});
  void change(2);
  expect(open()).toEqual([1]);
  acknowledge();
  acknowledge(listens[0]);
  acknowledge(listens[0]);
  expect(open()).toEqual([1, 2]);
});

test("nothing to listen for is no request, and ends the one there is", async () => {
  const { subscription, change, acknowledge, self, listens, open, clock } = subscribing();
  self.wanted = undefined;
  expect(await subscription.changed()).toEqual({});
  expect(listens).toEqual([]);
  void change(1);
  acknowledge();
  self.wanted = undefined;
  expect(await subscription.changed()).toEqual({});
  await clock.pass(600_000);
  expect([open(), clock.pending, self.gaps]).toEqual([[], 0, 0]);
});

describe("however it ends, it is opened again", () => {
  test("with growing pauses where it ends at once, for ever", async () => {
    const { change, acknowledge, listens, clock } = subscribing();
    void change(1);
    for (let n = 0; n < 12; n++) {
      acknowledge();
      listens.at(-1)!.end.resolve({});
      await settle();
      expect(clock.pending).toBe(1);
      await clock.pass(clock.nextIn!);
    }
    expect(listens).toHaveLength(13);
    expect(clock.now()).toBeGreaterThanOrEqual(31_000 + 5 * 30_000);
  });

  test("at once again after it stood for a while, and the gap is told", async () => {
    const { change, acknowledge, listens, clock, self } = subscribing();
    void change(1);
    for (let n = 1; n <= 5; n++) {
      acknowledge();
      await clock.pass(10_000);
      listens.at(-1)!.end.reject(new Error("the connection broke"));
      await settle();
      expect(clock.nextIn).toBe(1_000);
      await clock.pass(1_000);
      expect([listens.length, self.gaps]).toEqual([n + 1, n - 1]);
    }
  });

  test("also where the server cancels it, and where it never acknowledges", async () => {
    const { subscription, change, acknowledge, listens, clock, open } = subscribing();
    void change(1);
    acknowledge();
    subscription.cancelled(99);
    expect(open()).toEqual([1]);
    subscription.cancelled(1);
    await clock.pass(1_000);
    expect(listens).toHaveLength(2);
    await clock.pass(30_000);
    expect(listens[1]?.cancelled).toBe(true);
    await clock.pass(2_000);
    expect(listens).toHaveLength(3);
  });

  test("but not where the server does not know the method", async () => {
    const { subscription, change, listens, clock } = subscribing();
    const refused = failure(change(1));
    listens[0]!.end.reject(new RpcError(-32601, "Method not found"));
    expect(await refused).toMatchObject({ code: -32601 });
    expect(await failure(subscription.changed())).toMatchObject({ code: -32601 });
    await clock.pass(600_000);
    expect([listens.length, clock.pending]).toEqual([1, 0]);
  });

  test("nor where it was closed", async () => {
    const { subscription, change, acknowledge, listens, clock, open } = subscribing();
    void change(1);
    acknowledge();
    const late = failure(change(2));
    subscription.close();
    subscription.close();
    expect(await late).toMatchObject({ message: "the connection is closed" });
    await clock.pass(600_000);
    expect([listens.length, open(), clock.pending]).toEqual([2, [], 0]);
    const paused = subscribing();
    void paused.change(1);
    paused.listens[0]!.end.resolve({});
    await settle();
    paused.subscription.close();
    expect(paused.clock.pending).toBe(0);
  });
});

test("a refusal is told to those who wait; what stood before stands on, and the next try has what is wanted then", async () => {
  const { change, acknowledge, listens, open, clock, self } = subscribing();
  void change(1);
  acknowledge();
  const refused = failure(change(2));
  const later = change(3);
  listens[1]!.end.reject(new RpcError(-32602, "too many"));
  expect(await refused).toMatchObject({ code: -32602 });
  listens[1]!.cancelled = true;
  expect(open()).toEqual([1]);
  await clock.pass(1_000);
  expect(open()).toEqual([1, 3]);
  acknowledge();
  expect(await later).toEqual({ n: 3 });
  expect([open(), self.gaps]).toEqual([[3], 0]);
});

test("changes that come while it pauses wait for its end", async () => {
  const { change, listens, clock } = subscribing();
  void change(1);
  listens[0]!.end.reject(new Error("broken"));
  await settle();
  for (let n = 2; n < 100; n++) void change(n);
  expect(listens).toHaveLength(1);
  await clock.pass(1_000);
  expect(listens.map(({ notifications }) => notifications["n"])).toEqual([1, 99]);
});

test("whatever happens, never more than two are open, and in the end one for what is wanted", async () => {
  const steps = fc.array(
    fc.constantFrom("change", "drop", "acknowledge", "end", "refuse", "cancel", "wait"),
    {
      maxLength: 30,
    },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const { subscription, self, change, acknowledge, listens, clock, open } = subscribing();
      const drop = (): void => {
        self.wanted = undefined;
        void subscription.changed();
      };
      let changes = 0;
      const end = (finish: (listen: Listen) => void): void => {
        const listen = listens.findLast(({ cancelled }) => !cancelled);
        if (!listen) return;
        listen.cancelled = true;
        finish(listen);
      };
      const perform: Record<(typeof all)[number], () => unknown> = {
        change: () => void change(++changes),
        drop,
        acknowledge: () => listens.length > 0 && acknowledge(),
        end: () => end((listen) => listen.end.resolve({})),
        refuse: () => end((listen) => listen.end.reject(new RpcError(-32603, "no"))),
        cancel: () => listens.forEach(({ id }) => subscription.cancelled(id)),
        wait: () => clock.pass(700),
      };
      for (const step of all) {
        await perform[step]();
        await settle();
        expect(open().length).toBeLessThanOrEqual(2);
      }
      const last = change(-1);
      while (open().join() !== "-1" || clock.pending > 0) {
        if (listens.length > 0) acknowledge();
        await clock.pass(Math.min(clock.nextIn ?? 0, 1_000));
      }
      expect(open()).toEqual([-1]);
      await last.catch(() => {});
    }),
    { numRuns: 200 },
  );
});
