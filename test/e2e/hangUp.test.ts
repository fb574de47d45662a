import { expect } from "vitest";
import { test } from "../support/e2e.ts";

test("a terminal that closes ends serve in order, however often it says so", async ({ start }) => {
  const toolgate = await start(["serve", "--http", "0"]);
  process.kill(toolgate.pid, "SIGHUP");
  process.kill(toolgate.pid, "SIGHUP");
  expect(await toolgate.exited).toEqual({ code: 0, signal: null });
});
