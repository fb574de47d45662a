import { expect, test } from "vitest";
import { reasonOf } from "./dialErrors.ts";

test("a reason is never empty: several failed addresses are named, and an error without words by its name", () => {
  expect(reasonOf(new Error("socket hang up"))).toBe("socket hang up");
  const several = new AggregateError([new Error("connect ECONNREFUSED ::1:80"), "refused"]);
  expect(reasonOf(several)).toBe("connect ECONNREFUSED ::1:80; refused");
  expect(reasonOf(new TypeError())).toBe("TypeError");
});
