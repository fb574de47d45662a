import { describe, expect, test } from "vitest";
import { completeOf, FakeLibrary, getOf, readOf, subscribeOf } from "../../test/support/library.ts";
import { FakeProvider, keptLog, unavailable } from "../../test/support/providers.ts";
import { FakeTasks, taskOf } from "../../test/support/tasks.ts";
import { ToolError } from "../core/errors.ts";
import type { ItemKind, Operation } from "../core/operation.ts";
import type { ToolProvider } from "../core/provider.ts";
import { Mount } from "./mount.ts";
import { exposedNameOf } from "./shelf.ts";

const mountOf = (provider: ToolProvider) => {
  const kept = keptLog();
  return { kept, mount: new Mount(provider, { log: kept.log }) };
};

const library = () =>
  new FakeLibrary("lib", {
    prompts: ["p.q"],
    resources: ["x://a"],
    templates: ["x://t/{one}", "x://{+all}/end"],
    there: ["y://linked"],
  });

describe("a mount by itself", () => {
  test.each<[ItemKind, string[]]>([
    ["prompt", ["p.q"]],
    ["resource", ["x://a"]],
    ["resourceTemplate", ["x://t/{one}", "x://{+all}/end"]],
  ])("lists each %s under its provider's own name", async (kind, names) => {
    const { mount } = mountOf(library());
    const items = await mount.items(kind);
    expect(items.map(exposedNameOf)).toEqual(names);
    expect(items.map((item) => [item.kind, item.name, item.canonicalName, item.facts])).toEqual(
      names.map((name) => [kind, name, `lib__${name}`, {}]),
    );
    for (const item of items) expect(item.definition).not.toHaveProperty("_meta");
  });

  test.each<[Operation, ItemKind, string]>([
    [getOf("p.q"), "prompt", "p.q"],
    [readOf("x://a"), "resource", "x://a"],
    [subscribeOf("x://t/1"), "resourceTemplate", "x://t/{one}"],
    [readOf("x://t/1/end"), "resourceTemplate", "x://{+all}/end"],
    [readOf("y://linked"), "resource", "y://linked"],
    [subscribeOf("anything"), "resource", "anything"],
    [completeOf("p.q"), "prompt", "p.q"],
    [completeOf("x://t/{one}"), "resourceTemplate", "x://t/{one}"],
    [completeOf("x://a"), "resource", "x://a"],
  ])("resolves %j", async (operation, kind, name) => {
    const item = await mountOf(library()).mount.resolve(operation);
    expect(item).toMatchObject({ kind, name, canonicalName: `lib__${name}` });
  });

  test.each<Operation>([
    getOf("lib__p.q"),
    completeOf("nope"),
    completeOf("x://nope"),
    { kind: "roots/list", name: "roots/list", arguments: {} },
  ])("does not know %j", async (operation) => {
    expect(await mountOf(library()).mount.resolve(operation)).toBeUndefined();
  });

  test.each([getOf("t"), readOf("x://a"), completeOf("t"), completeOf("x://a")])(
    "of a provider of tools alone has nothing for %j",
    async (operation) => {
      const { mount } = mountOf(new FakeProvider("fs", ["t"]));
      expect(await mount.resolve(operation)).toBeUndefined();
      for (const kind of ["prompt", "resource", "resourceTemplate"] as const)
        expect(await mount.items(kind)).toEqual([]);
    },
  );

  test("has any prompt and any template where they cannot be listed", async () => {
    const lib = library();
    lib.failures.prompts = lib.failures.templates = new ToolError("Unsupported", "cannot list");
    const { mount } = mountOf(lib);
    expect(await mount.items("prompt")).toEqual([]);
    expect(await mount.resolve(getOf("any"))).toMatchObject({ kind: "prompt", definition: { name: "any" } });
    expect(await mount.resolve(completeOf("x://{any}"))).toMatchObject({
      kind: "resourceTemplate",
      definition: { uriTemplate: "x://{any}" },
    });
  });
});

describe("while the provider is away", () => {
  const away = () => {
    const lib = library();
    lib.failures.prompts = lib.failures.resources = lib.failures.templates = unavailable("lib");
    return mountOf(lib);
  };

  test.each([getOf("p.q"), completeOf("p.q"), completeOf("x://t/{one}")])(
    "%j is refused as such",
    async (operation) => {
      await expect(away().mount.resolve(operation)).rejects.toMatchObject({ code: "Unavailable" });
    },
  );

  test("a resource is still asked for: there is nobody else who could have it", async () => {
    expect(await away().mount.resolve(readOf("x://a"))).toMatchObject({ kind: "resource", name: "x://a" });
  });

  test.each([
    ["prompt", "prompts"],
    ["resource", "resources"],
    ["resourceTemplate", "resources"],
  ] as const)("the list of each %s is empty, and the log says so", async (kind, list) => {
    const { mount, kept } = away();
    expect(await mount.items(kind)).toEqual([]);
    expect(kept.lines).toMatchObject([{ level: "info", message: `lib cannot list its ${list} now` }]);
  });
});

describe("a task", () => {
  test.each(["tasks/get", "tasks/update", "tasks/cancel"] as const)(
    "has its provider's namespace before its id, here too: %s",
    async (kind) => {
      const { mount } = mountOf(new FakeTasks("a"));
      expect(await mount.resolve(taskOf("a__b__7", kind))).toMatchObject({
        kind: "task",
        name: "b__7",
        canonicalName: "a__b__7",
        definition: { taskId: "a__b__7" },
        facts: {},
      });
    },
  );

  test.each(["7", "b__7", "ab__7", "__7", "a_7", ""])("%j is not of that provider", async (id) => {
    expect(await mountOf(new FakeTasks("a")).mount.resolve(taskOf(id))).toBeUndefined();
  });

  test("is not there where a provider has none", async () => {
    expect(await mountOf(new FakeProvider("a")).mount.resolve(taskOf("a__7"))).toBeUndefined();
  });
});

test("what comes twice is listed once, and the second is told", async () => {
  const { mount, kept } = mountOf(new FakeLibrary("lib", { resources: ["x://a", "x://a"] }));
  expect(await mount.items("resource")).toHaveLength(1);
  expect(kept.lines).toMatchObject([
    { level: "warning", message: "lib__x://a is left out: its name x://a is taken by lib__x://a" },
  ]);
});
