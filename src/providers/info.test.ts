import { describe, expect, test } from "vitest";
import { FakeLibrary } from "../../test/support/library.ts";
import { FakeProvider } from "../../test/support/providers.ts";
import type { ProviderInfo, ToolProvider } from "../core/provider.ts";
import { CompositeToolProvider } from "./composite.ts";
import { combine, infoOf } from "./info.ts";
import { Mount } from "./mount.ts";

const saying = (namespace: string, info: ProviderInfo | undefined): ToolProvider =>
  Object.assign(new FakeProvider(namespace), { info: async () => info });

describe("what a provider can do", () => {
  const { prompts, resources } = new FakeLibrary("a");
  const { subscribe: _, ...still } = resources;
  const least: ToolProvider = { namespace: "a", listTools: async () => [], callTool: async () => "" };

  test.each<[Partial<ToolProvider>, object]>([
    [{}, { tools: {} }],
    [{ prompts }, { tools: {}, prompts: {} }],
    [{ resources }, { tools: {}, resources: { subscribe: true } }],
    [{ resources: still }, { tools: {}, resources: {} }],
    [{ complete: async () => ({}) }, { tools: {}, completions: {} }],
    [
      { tasks: { request: async () => ({}) } },
      { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
    ],
  ])("is told by its members: %j", async (members, capabilities) => {
    expect(await infoOf({ ...least, ...members })).toEqual({ capabilities });
  });

  test("is what it says itself, as soon as it knows", async () => {
    const info = { capabilities: { prompts: {} }, instructions: "Ask first." };
    expect(await infoOf(saying("a", info))).toBe(info);
    expect(await infoOf(saying("a", undefined))).toEqual({ capabilities: { tools: {} } });
    expect(await new Mount(saying("a", info), { log: () => {} }).info()).toBe(info);
  });
});

describe("what several can do together", () => {
  const together = (...capabilities: ProviderInfo["capabilities"][]) =>
    combine(capabilities.map((one, at) => ({ namespace: `n${at}`, info: { capabilities: one } })))
      .capabilities;

  test("is what one of them can, deep down too", () => {
    expect(
      together(
        { tools: { listChanged: true }, extensions: { "a/b": { x: 1 } } },
        { tools: {}, resources: { subscribe: false }, extensions: { "a/b": { y: 2 }, "c/d": {} } },
        { tools: { listChanged: false }, resources: { subscribe: true, listChanged: true } },
        { resources: { subscribe: false }, completions: {} },
      ),
    ).toEqual({
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      extensions: { "a/b": { x: 1, y: 2 }, "c/d": {} },
      completions: {},
    });
  });

  test.each([null, false, 7, "no", []])("is not less because one of them says %j", (odd) => {
    expect(together({ tools: { listChanged: true } }, { tools: odd })).toEqual({
      tools: { listChanged: true },
    });
    expect(together({ tools: odd }, { tools: { listChanged: true } })).toEqual({
      tools: { listChanged: true },
    });
  });

  test("leaves what each said as it was", () => {
    const one = { tools: {} };
    together(one, { tools: { listChanged: true } });
    expect(one).toEqual({ tools: {} });
  });

  test("of nobody is nothing", () => {
    expect(combine([])).toEqual({ capabilities: {} });
  });

  test("has the instructions of each under its namespace, in order", async () => {
    const composite = new CompositeToolProvider()
      .add(saying("z", { capabilities: { tools: {} }, instructions: "Z first." }))
      .add(saying("quiet", { capabilities: { prompts: {} } }))
      .add(saying("a", { capabilities: {}, instructions: "Then\n\nA." }));
    expect(await composite.info()).toEqual({
      capabilities: { tools: {}, prompts: {} },
      instructions: "# z\n\nZ first.\n\n# a\n\nThen\n\nA.",
    });
  });
});
