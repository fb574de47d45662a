import fc from "fast-check";
import { expect, test } from "vitest";
import { FakeClock } from "../../test/support/fakeClock.ts";
import { Deadlines, type Due } from "./deadlines.ts";

class Recorded implements Due {
  bagIndex = -1;
  deadline: number;
  expiredAt: number | undefined;
  readonly #clock: FakeClock;

  constructor(clock: FakeClock, deadline: number) {
    this.#clock = clock;
    this.deadline = deadline;
  }

  expire(): void {
    if (this.expiredAt !== undefined) throw new Error("expired twice");
    this.expiredAt = this.#clock.now();
  }
}

test("each expires once, at its own moment, whatever the order in which they came", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 20 }), (moments) => {
      const clock = new FakeClock();
      const deadlines = new Deadlines(clock);
      const all = moments.map((at) => new Recorded(clock, at));
      for (const due of all) deadlines.add(due);
      expect(clock.pending).toBeLessThanOrEqual(1);
      clock.advance(200);
      expect(all.map((due) => due.expiredAt)).toEqual(moments);
      expect(clock.pending).toBe(0);
    }),
  );
});

test("one that is taken out, moved or stopped does not expire at its first moment", () => {
  const clock = new FakeClock();
  const deadlines = new Deadlines(clock);
  const [gone, moved, stopped] = [10, 10, 10].map((at) => new Recorded(clock, at));
  for (const due of [gone!, moved!, stopped!]) deadlines.add(due);
  deadlines.delete(gone!);
  moved!.deadline = 15;
  stopped!.deadline = Infinity;
  clock.advance(100);
  expect([gone, moved, stopped].map((due) => due!.expiredAt)).toEqual([undefined, 15, undefined]);
  stopped!.deadline = 120;
  deadlines.add(stopped!);
  clock.advance(100);
  expect(stopped!.expiredAt).toBe(120);
});

test("what expires may add another", () => {
  const clock = new FakeClock();
  const deadlines = new Deadlines(clock);
  const second = new Recorded(clock, 20);
  deadlines.add({ bagIndex: -1, deadline: 10, expire: () => deadlines.add(second) });
  clock.advance(50);
  expect(second.expiredAt).toBe(20);
});
