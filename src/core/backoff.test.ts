import fc from "fast-check";
import { expect, test } from "vitest";
import { backoffMs } from "./backoff.ts";

test("doubles from the floor and stops at the cap", () => {
  const options = { floorMs: 1_000, capMs: 60_000, random: () => 0 };
  expect([1, 2, 3, 6, 7, 5_000].map((n) => backoffMs(n, options))).toEqual([
    1_000, 2_000, 4_000, 32_000, 60_000, 60_000,
  ]);
});

test("stays between floor and cap, whatever the chance", () => {
  fc.assert(
    fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (failures, chance) => {
      const ms = backoffMs(failures, { random: () => chance });
      expect(ms).toBeGreaterThanOrEqual(1_000);
      expect(ms).toBeLessThanOrEqual(60_000);
    }),
  );
});
