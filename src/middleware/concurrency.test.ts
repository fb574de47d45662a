import { describe, expect, test } from "vitest";
import { Cancellation } from "../core/cancellation.ts";
import { ToolContext } from "../core/context.ts";
import type { Next } from "../core/operation.ts";
import { ToolResult } from "../core/result.ts";
import { question, resolvedOperation, toolResult } from "../../test/support/operation.ts";
import { concurrency, type ConcurrencyOptions } from "./concurrency.ts";

const operation = resolvedOperation();
const as = (id: string, cancellation = new Cancellation()): ToolContext =>
  new ToolContext({ principal: { id }, cancellation });

/** A guard before a tool whose calls end when the test says so. */
function guarded(options: ConcurrencyOptions) {
  const guard = concurrency(options);
  const running: { name: string; done: (result: ToolResult) => void; fail: (error: Error) => void }[] = [];
  const call = async (name: string, ctx = as("a")): Promise<ToolResult> => {
    const next: Next = () =>
      new Promise((done, fail) => {
        running.push({ name, done, fail });
      });
    return toolResult(await guard.call!(operation, ctx, next));
  };
  const end = (name: string): void => {
    const [one] = running.splice(
      running.findIndex((each) => each.name === name),
      1,
    );
    one!.done(ToolResult.success(name));
  };
  return { call, end, running, names: () => running.map(({ name }) => name) };
}

test("the excess waits its turn, first come, first served", async () => {
  const { call, end, names } = guarded({ running: 2 });
  const calls = ["1", "2", "3", "4"].map((name) => call(name));
  expect(names()).toEqual(["1", "2"]);
  end("2");
  await calls[1];
  expect(names()).toEqual(["1", "3"]);
  end("3");
  await calls[2];
  expect(names()).toEqual(["1", "4"]);
  end("1");
  end("4");
  expect((await Promise.all(calls)).map(ToolResult.text)).toEqual(["1", "2", "3", "4"]);
});

test("what cannot wait either is refused, and only that", async () => {
  const { call, end } = guarded({ running: 1, waiting: 1 });
  const first = call("1");
  const second = call("2");
  await expect(call("3")).rejects.toMatchObject({
    code: "TooManyRequests",
    message: "Too many requests in flight",
  });
  end("1");
  await first;
  end("2");
  await expect(second).resolves.toBeDefined();
});

test("principals do not wait for one another", async () => {
  const { call, end, names } = guarded({ running: 1, waiting: 0 });
  const calls = [call("1", as("a")), call("2", as("b"))];
  expect(names()).toEqual(["1", "2"]);
  end("1");
  end("2");
  await Promise.all(calls);
});

test("a call that fails gives its place back", async () => {
  const { call, end, running } = guarded({ running: 1 });
  const first = call("1");
  const second = call("2");
  running.pop()!.fail(new Error("broken"));
  await expect(first).rejects.toThrow("broken");
  end("2");
  await expect(second).resolves.toBeDefined();
});

test("a question is not counted: its call has a place already", async () => {
  const guard = concurrency({ running: 1, waiting: 0 });
  const answer = { type: "raw", value: { action: "accept" } } as const;
  const result = await guard.call!(operation, as("a"), async () => {
    const next: Next = async () => answer;
    expect(await guard.call!(question(), as("a"), next)).toBe(answer);
    await expect(guard.call!(operation, as("a"), next)).rejects.toMatchObject({ code: "TooManyRequests" });
    return ToolResult.success("asked");
  });
  expect(toolResult(result)).toEqual(ToolResult.success("asked"));
});

describe("a waiting call that is cancelled", () => {
  test("leaves the queue at once and never runs", async () => {
    const { call, end, names } = guarded({ running: 1, waiting: 2 });
    const cancellation = new Cancellation();
    const first = call("1");
    const second = call("2", as("a", cancellation));
    const third = call("3");
    cancellation.cancel("gone");
    await expect(second).rejects.toMatchObject({ code: "Cancelled" });
    const fourth = call("4");
    end("1");
    await first;
    expect(names()).toEqual(["3"]);
    end("3");
    await third;
    end("4");
    await fourth;
  });

  test("before it came does not wait", async () => {
    const { call } = guarded({ running: 1 });
    void call("1");
    const cancellation = new Cancellation();
    cancellation.cancel("gone");
    await expect(call("2", as("a", cancellation))).rejects.toMatchObject({ code: "Cancelled" });
  });

  test("after its turn came is the tool's to end, and its place comes back", async () => {
    const { call, end, names } = guarded({ running: 1 });
    const cancellation = new Cancellation();
    const first = call("1");
    const second = call("2", as("a", cancellation));
    end("1");
    await first;
    cancellation.cancel("gone");
    expect(names()).toEqual(["2"]);
    end("2");
    await expect(second).resolves.toBeDefined();
    const third = call("3");
    expect(names()).toEqual(["3"]);
    end("3");
    await third;
  });
});
