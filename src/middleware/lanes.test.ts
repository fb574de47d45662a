import { expect, test } from "vitest";
import { Cancellation } from "../core/cancellation.ts";
import { Lanes } from "./lanes.ts";

test("nothing is kept of a key that holds no place", async () => {
  const lanes = new Lanes({ running: 1, waiting: 1 });
  const cancellation = new Cancellation();
  void lanes.enter("a", cancellation);
  void lanes.enter("b", cancellation);
  const turn = lanes.enter("b", cancellation);
  expect(() => lanes.enter("b", cancellation)).toThrow("Too many requests in flight");
  expect(lanes.size).toBe(2);
  lanes.leave("a");
  expect(lanes.size).toBe(1);
  lanes.leave("b");
  await turn;
  expect(lanes.size).toBe(1);
  lanes.leave("b");
  expect(lanes.size).toBe(0);
});

test("a place that was waited for is not listened for any more", async () => {
  const lanes = new Lanes({ running: 1, waiting: 1 });
  const cancellation = new Cancellation();
  void lanes.enter("a", cancellation);
  const turn = lanes.enter("a", cancellation);
  lanes.leave("a");
  cancellation.cancel("late");
  await expect(turn).resolves.toBeUndefined();
});
