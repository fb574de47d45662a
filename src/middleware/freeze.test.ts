import { expect, test, vi } from "vitest";
import { ToolContext } from "../core/context.ts";
import type { Next } from "../core/operation.ts";
import { ToolResult } from "../core/result.ts";
import { resolvedOperation } from "../../test/support/operation.ts";
import { freeze } from "./freeze.ts";

test("passes the operation on, frozen", async () => {
  const operation = resolvedOperation({ arguments: { path: "a" } });
  const ctx = new ToolContext();
  const next = vi.fn<Next>(() => Promise.resolve(ToolResult.success("done")));
  await expect(freeze().call!(operation, ctx, next)).resolves.toEqual(ToolResult.success("done"));
  const [passed, passedCtx] = next.mock.calls[0]!;
  expect(passed).toBe(operation);
  expect(Object.isFrozen(passed)).toBe(true);
  expect(passedCtx).toBe(ctx);
});
