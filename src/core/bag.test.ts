import fc from "fast-check";
import { expect, test } from "vitest";
import { Bag, type BagMember } from "./bag.ts";

test("holds what a Set would hold, after any additions and removals", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9)), (steps) => {
      const bag = new Bag<BagMember>();
      const set = new Set<BagMember>();
      const all = Array.from({ length: 10 }, () => ({ bagIndex: -1 }));
      for (const step of steps) {
        const member = all[step]!;
        if (set.delete(member)) bag.delete(member);
        else {
          set.add(member);
          bag.add(member);
        }
        expect(bag.size).toBe(set.size);
        expect(new Set(bag.members())).toEqual(set);
        expect(all.every((one) => bag.has(one) === set.has(one))).toBe(true);
      }
    }),
  );
});

test("removing what is not there changes nothing", () => {
  const bag = new Bag<BagMember>();
  const member = { bagIndex: -1 };
  bag.add(member);
  bag.delete({ bagIndex: -1 });
  bag.delete(member);
  bag.delete(member);
  expect(bag.size).toBe(0);
});

test("may change while its members are walked", () => {
  const bag = new Bag<BagMember>();
  for (let n = 0; n < 5; n++) bag.add({ bagIndex: -1 });
  for (const member of bag.members()) bag.delete(member);
  expect(bag.size).toBe(0);
});
