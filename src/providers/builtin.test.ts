import { describe, expect, test } from "vitest";
import { definition } from "../../test/support/providers.ts";
import { ToolContext } from "../core/context.ts";
import { ToolError } from "../core/errors.ts";
import { ToolResult } from "../core/result.ts";
import { defineTool } from "../core/tool.ts";
import { ToolRegistry } from "../runtime/registry.ts";
import { BuiltinToolProvider, type Dispatch } from "./builtin.ts";
import { toolProviderContract } from "./toolProvider.contract.ts";

const ctx = new ToolContext();

toolProviderContract("BuiltinToolProvider.of", (tools) =>
  BuiltinToolProvider.of(
    tools.map((tool) => tool.definition),
    (name, args, ctx) => tools.find((tool) => tool.name === name)!.execute(args, ctx),
  ),
);

toolProviderContract("BuiltinToolProvider.over", (tools) => {
  const registry = new ToolRegistry();
  for (const tool of tools) registry.register(tool);
  return BuiltinToolProvider.over(registry);
});

test("the namespace is builtin, or what the program says", () => {
  expect(BuiltinToolProvider.of([], () => "").namespace).toBe("builtin");
  expect(BuiltinToolProvider.of([], () => "", "mine").namespace).toBe("mine");
  expect(BuiltinToolProvider.over(new ToolRegistry()).namespace).toBe("builtin");
  expect(BuiltinToolProvider.over(new ToolRegistry(), "mine").namespace).toBe("mine");
});

describe("of", () => {
  const read = (dispatch: Dispatch) => BuiltinToolProvider.of([definition("read")], dispatch);

  test("lists the definitions in their order", async () => {
    const definitions = ["b", "a"].map(definition);
    expect(await BuiltinToolProvider.of(definitions, () => "").listTools()).toEqual(definitions);
  });

  test("does not dispatch what is not defined", async () => {
    const dispatched: string[] = [];
    const provider = read((name) => {
      dispatched.push(name);
      return "ok";
    });
    await expect(provider.callTool("write", {}, ctx)).rejects.toMatchObject({
      code: "NotFound",
      message: "Unknown tool: write",
    });
    expect(dispatched).toEqual([]);
  });

  test("hands name, arguments and context to the dispatcher", async () => {
    const provider = read((name, args, given) => ToolResult.structured([name, args, given === ctx]));
    expect(await provider.callTool("read", { a: 1 }, ctx)).toMatchObject({
      structuredContent: ["read", { a: 1 }, true],
    });
  });

  test.each<[string, Dispatch]>([
    [
      "thrown",
      () => {
        throw new ToolError("ExecutionFailed", "no space");
      },
    ],
    ["rejected", () => Promise.reject(new ToolError("ExecutionFailed", "no space"))],
  ])("a dispatcher's ExecutionFailed, %s, is a result", async (_how, dispatch) => {
    expect(await read(dispatch).callTool("read", {}, ctx)).toEqual(
      ToolResult.withMetadata(ToolResult.error("no space"), { code: "ExecutionFailed" }),
    );
  });

  test.each([
    new ToolError("PermissionDenied", "no"),
    new ToolError("TimedOut", "late"),
    new Error("broken"),
  ])("any other error of the dispatcher is its caller's: %s", async (error) => {
    await expect(read(() => Promise.reject(error)).callTool("read", {}, ctx)).rejects.toBe(error);
  });

  test("has no facts and never changes", () => {
    const provider = read(() => "ok");
    expect(provider.facts("read")).toBeUndefined();
    expect(provider.watch(() => {})).toBeTypeOf("function");
  });
});

describe("over", () => {
  const tool = (name: string) =>
    defineTool({
      name,
      inputSchema: { type: "object" },
      capabilities: { exec: true },
      timeoutMs: 5,
      execute: () => name,
    });

  test("follows the registry, and tells of its changes until nobody listens", async () => {
    const registry = new ToolRegistry();
    const provider = BuiltinToolProvider.over(registry);
    const kinds: string[] = [];
    const stop = provider.watch((kind) => kinds.push(kind));
    expect(await provider.listTools()).toEqual([]);
    registry.register(tool("b"));
    registry.register(tool("a"));
    expect((await provider.listTools()).map((listed) => listed.name)).toEqual(["a", "b"]);
    expect(await provider.callTool("a", {}, ctx)).toBe("a");
    registry.unregister("a");
    await expect(provider.callTool("a", {}, ctx)).rejects.toMatchObject({ code: "NotFound" });
    stop();
    registry.unregister("b");
    expect(kinds).toEqual(["tools", "tools", "tools"]);
  });

  test("knows what its tools declare", () => {
    const registry = new ToolRegistry();
    registry.register(tool("a"));
    const provider = BuiltinToolProvider.over(registry);
    expect(provider.facts("a")).toMatchObject({ capabilities: { exec: true }, timeoutMs: 5 });
    expect(provider.facts("b")).toBeUndefined();
  });
});
