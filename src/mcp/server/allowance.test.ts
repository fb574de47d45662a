import { expect, test } from "vitest";
import { Allowance } from "./allowance.ts";

test("each principal may hold as much as the limit, and again what it has given back", () => {
  const allowance = new Allowance(3);
  expect([allowance.take("a", 2), allowance.take("a", 2), allowance.take("a"), allowance.take("a")]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect(allowance.take("b", 3)).toBe(true);
  allowance.giveBack("a");
  expect([allowance.take("a"), allowance.take("a")]).toEqual([true, false]);
  allowance.giveBack("a", 3);
  expect(allowance.take("a", 3)).toBe(true);
});
