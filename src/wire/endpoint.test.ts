import { expect, test } from "vitest";
import { Session } from "./endpoint.ts";

test("a session begins without a legacy state and with nothing in flight, under an id of its own", () => {
  const one = new Session(() => {});
  const two = new Session(() => {});
  expect(one.legacy).toBeUndefined();
  expect(one.inflight.size).toBe(0);
  expect(one.inflight).not.toBe(two.inflight);
  expect(one.id).toMatch(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);
  expect(one.id).not.toBe(two.id);
});

test("notify is the door's", () => {
  const sent: unknown[] = [];
  const session = new Session((notification) => sent.push(notification));
  session.send({ jsonrpc: "2.0", method: "x" });
  expect(sent).toEqual([{ jsonrpc: "2.0", method: "x" }]);
});
