import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defineTool, type Tool } from "../core/tool.ts";
import { ToolRegistry } from "./registry.ts";

const tool = (name: string, description?: string): Tool =>
  defineTool({
    name,
    inputSchema: { type: "object", properties: { q: { type: "string" } } },
    ...(description !== undefined && { description }),
    execute: () => name,
  });

const names = (registry: ToolRegistry): string[] => registry.list().map((tool) => tool.name);

describe("ToolRegistry", () => {
  test("is empty at first", () => {
    const registry = new ToolRegistry();
    expect(registry.list()).toEqual([]);
    expect(registry.definitions("mcp")).toEqual([]);
    expect(registry.get("x")).toBeUndefined();
    expect(registry.unregister("x")).toBe(false);
  });

  test("gives back what was registered", () => {
    const registry = new ToolRegistry();
    const search = tool("search");
    registry.register(search);
    expect(registry.get("search")).toBe(search);
    expect(registry.get("Search")).toBeUndefined();
    expect(registry.get("toString")).toBeUndefined();
  });

  test("refuses a name that is taken, names both owners, and keeps the first", () => {
    const registry = new ToolRegistry();
    const first = tool("search");
    registry.register(first, "skills");
    expect(() => registry.register(tool("search"), "my program")).toThrow(
      'Tool "search" of my program is already registered by skills. ' +
        "Choose another name, or call replace() if that is meant.",
    );
    expect(() => registry.register(tool("search"))).toThrow(/of application is already registered by skills/);
    expect(registry.get("search")).toBe(first);
  });

  test("replace takes the name over, with its owner", () => {
    const registry = new ToolRegistry();
    registry.register(tool("search"), "skills");
    const second = tool("search");
    registry.replace(second, "my program");
    expect(registry.get("search")).toBe(second);
    expect(names(registry)).toEqual(["search"]);
    expect(() => registry.register(tool("search"))).toThrow("by my program");
  });

  test("replace registers where nothing was", () => {
    const registry = new ToolRegistry();
    registry.replace(tool("search"));
    expect(names(registry)).toEqual(["search"]);
  });

  test("unregister frees the name", () => {
    const registry = new ToolRegistry();
    registry.register(tool("search"));
    expect(registry.unregister("search")).toBe(true);
    expect(registry.unregister("search")).toBe(false);
    expect(names(registry)).toEqual([]);
    registry.register(tool("search"));
    expect(names(registry)).toEqual(["search"]);
  });

  test("lists in the order of names, whoever came first", () => {
    const some = fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 20 });
    fc.assert(
      fc.property(some, (some) => {
        const one = new ToolRegistry();
        for (const name of some) one.register(tool(name));
        const other = new ToolRegistry();
        for (const name of some.toReversed()) other.register(tool(name));
        expect(names(one)).toEqual(some.toSorted());
        expect(JSON.stringify(other.definitions("mcp"))).toBe(JSON.stringify(one.definitions("mcp")));
      }),
    );
  });

  test("writes definitions as MCP, Anthropic and OpenAI want them", () => {
    const registry = new ToolRegistry();
    const described = tool("b", "Finds.");
    registry.register(described);
    registry.register(tool("a"));
    const schema = { type: "object", properties: { q: { type: "string" } } };
    expect(registry.definitions("mcp")).toStrictEqual([
      { name: "a", inputSchema: schema },
      { name: "b", description: "Finds.", inputSchema: schema },
    ]);
    expect(registry.definitions("anthropic")).toStrictEqual([
      { name: "a", input_schema: schema },
      { name: "b", description: "Finds.", input_schema: schema },
    ]);
    expect(registry.definitions("openai")).toStrictEqual([
      { type: "function", function: { name: "a", parameters: schema } },
      { type: "function", function: { name: "b", description: "Finds.", parameters: schema } },
    ]);
  });

  test("tells of each change after it, and only of changes", () => {
    const registry = new ToolRegistry();
    const seen: string[][] = [];
    const stop = registry.watch(() => seen.push(names(registry)));
    registry.register(tool("a"));
    registry.replace(tool("a"));
    registry.register(tool("b"));
    registry.unregister("a");
    registry.unregister("a");
    expect(() => registry.register(tool("b"))).toThrow("already registered");
    expect(seen).toEqual([["a"], ["a"], ["a", "b"], ["b"]]);
    stop();
    stop();
    registry.unregister("b");
    expect(seen).toHaveLength(4);
  });

  test("one watcher's end is not another's", () => {
    const registry = new ToolRegistry();
    const counts = [0, 0];
    const stop = registry.watch(() => (counts[0]! += 1));
    registry.watch(() => (counts[1]! += 1));
    stop();
    registry.register(tool("a"));
    expect(counts).toEqual([0, 1]);
  });
});
