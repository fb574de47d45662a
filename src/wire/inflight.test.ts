import { expect, test } from "vitest";
import { Cancellation } from "../core/cancellation.ts";
import { Inflight } from "./inflight.ts";

test("a request is in flight from begin to end", () => {
  const inflight = new Inflight();
  const first = inflight.begin(1);
  expect(first?.cancelled).toBe(false);
  expect(inflight.size).toBe(1);
  inflight.end(1);
  expect(inflight.size).toBe(0);
});

test("an id that is in flight is not given twice, and is free again afterwards", () => {
  const inflight = new Inflight();
  const first = inflight.begin("a");
  expect(inflight.begin("a")).toBeUndefined();
  expect(inflight.size).toBe(1);
  inflight.end("a");
  expect(inflight.begin("a")).not.toBe(first);
});

test("the number 1 and the string 1 are two ids", () => {
  const inflight = new Inflight();
  const number = inflight.begin(1);
  const string = inflight.begin("1");
  inflight.cancel("1", "enough");
  expect(string?.reason).toBe("enough");
  expect(number?.cancelled).toBe(false);
});

test("an id that is unknown or answered already cancels nothing", () => {
  const inflight = new Inflight();
  const answered = inflight.begin(1);
  const running = inflight.begin(2);
  inflight.end(1);
  inflight.cancel(1, "late");
  inflight.cancel(9, "never heard of");
  inflight.end(9);
  expect(answered?.cancelled).toBe(false);
  expect(running?.cancelled).toBe(false);
});

test("cancelAll cancels what runs, also when that ends it at once", () => {
  const inflight = new Inflight();
  const all = [1, 2, 3].map((id) => {
    const cancellation = inflight.begin(id)!;
    cancellation.onCancel(() => inflight.end(id));
    return cancellation;
  });
  inflight.cancelAll("gone");
  expect(all.map((one) => one.reason)).toEqual(["gone", "gone", "gone"]);
  expect(inflight.size).toBe(0);
});

test("the connection's end cancels a request, a request's end does not cancel the connection", () => {
  const inflight = new Inflight();
  const connection = new Cancellation();
  const one = inflight.begin(1, connection);
  const two = inflight.begin(2, connection);
  inflight.cancel(1, "just this");
  expect(connection.cancelled).toBe(false);
  connection.cancel("closed");
  expect(one?.reason).toBe("just this");
  expect(two?.reason).toBe("closed");
});

test("an answered request no longer follows its connection", () => {
  const inflight = new Inflight();
  const connection = new Cancellation();
  const one = inflight.begin(1, connection);
  inflight.end(1);
  connection.cancel("closed");
  expect(one?.cancelled).toBe(false);
});
