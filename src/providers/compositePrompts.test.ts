import { describe, expect, test } from "vitest";
import { completionRequest, completeOf, FakeLibrary, getOf } from "../../test/support/library.ts";
import { FakeProvider, keptLog, unavailable } from "../../test/support/providers.ts";
import { ToolContext } from "../core/context.ts";
import { ToolError } from "../core/errors.ts";
import { exposedName } from "../core/names.ts";
import type { ToolProvider } from "../core/provider.ts";
import { CompositeToolProvider } from "./composite.ts";
import { promptProviderContract } from "./promptProvider.contract.ts";
import { exposedNameOf } from "./shelf.ts";

const ctx = new ToolContext();

promptProviderContract("A local provider", (local) => local);
promptProviderContract(
  "CompositeToolProvider",
  (local) => new CompositeToolProvider().add(new FakeProvider("near")).add(local),
  "far__",
);
promptProviderContract(
  "CompositeToolProvider, two deep,",
  (local) => new CompositeToolProvider().add(new CompositeToolProvider({ namespace: "team" }).add(local)),
  "team__far__",
);

function compositeOf(...providers: readonly ToolProvider[]) {
  const kept = keptLog();
  const composite = new CompositeToolProvider({ log: kept.log });
  for (const provider of providers) composite.add(provider);
  return { composite, kept };
}

/** Of one that can give prompts and not list them. */
function unlisted(namespace: string, prompts: readonly string[] = []): FakeLibrary {
  const library = new FakeLibrary(namespace, { prompts });
  library.failures.prompts = new ToolError("Unsupported", `${namespace} cannot list`);
  return library;
}

const names = async (composite: CompositeToolProvider): Promise<string[]> =>
  (await composite.items("prompt")).map(exposedNameOf);

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no failure",
    (error: unknown) => error,
  );

describe("prompts", () => {
  test("are named as tools are, and apart from them", async () => {
    const a = new FakeLibrary("a", { prompts: ["x.y", "x"], tools: ["x"] });
    const { composite } = compositeOf(a, new FakeLibrary("b", { prompts: ["z"] }));
    expect(await names(composite)).toEqual([exposedName("a__x.y"), "a__x", "b__z"]);
    expect(await composite.items("prompt")).toMatchObject([
      { kind: "prompt", name: "x.y", definition: { _meta: { "dev.toolgate/originalName": "x.y" } } },
      { kind: "prompt", name: "x", canonicalName: "a__x", facts: {} },
      { kind: "prompt", name: "z" },
    ]);
    expect((await composite.items("tool")).map(exposedNameOf)).toEqual(["a__x"]);
  });

  test("are found by the exposed, the canonical and the own name", async () => {
    const b = new FakeLibrary("b", { prompts: ["x.y"] });
    for (const name of [exposedName("b__x.y"), "b__x.y", "x.y"]) {
      const { composite } = compositeOf(new FakeProvider("a", ["x.y"]), b);
      expect(await composite.resolve(getOf(name))).toMatchObject({
        kind: "prompt",
        provider: b,
        name: "x.y",
      });
      await composite.items("prompt");
      expect(await composite.resolve(getOf(name))).toMatchObject({
        kind: "prompt",
        provider: b,
        name: "x.y",
      });
    }
  });

  test("of a tool's name are not there, nor tools of a prompt's", async () => {
    const { composite } = compositeOf(new FakeLibrary("a", { prompts: ["p"], tools: ["t"] }));
    expect(await failure(composite.prompts.getPrompt("a__t", {}, ctx))).toMatchObject({
      code: "NotFound",
      message: "Unknown prompt: a__t",
    });
    expect(await failure(composite.callTool("a__p", {}, ctx))).toMatchObject({
      code: "NotFound",
      message: "Unknown tool: a__p",
    });
  });

  test("without a namespace are tried on who cannot list, as long as they say NotFound", async () => {
    const [u, v, b] = [unlisted("u", ["other"]), unlisted("v"), new FakeLibrary("b", { prompts: ["p"] })];
    const { composite } = compositeOf(u, v, b);
    expect(await composite.prompts.getPrompt("p", {}, ctx)).toMatchObject({ description: "b:p" });
    expect([u, v, b].map(({ asked }) => asked.at(-1))).toEqual(["get p", "get p", "get p"]);
    expect(await composite.prompts.getPrompt("u__other", {}, ctx)).toMatchObject({ description: "u:other" });
    expect(await names(composite)).toEqual(["b__p"]);
  });

  test("of who is away are left out, and refused as unavailable under its name", async () => {
    const a = new FakeLibrary("a", { prompts: ["p"], tools: ["t"] });
    a.failures.prompts = unavailable("a");
    const { composite, kept } = compositeOf(a, new FakeLibrary("b", { prompts: ["p"] }));
    expect(await names(composite)).toEqual(["b__p"]);
    expect(kept.lines).toMatchObject([{ message: "a cannot list its prompts now" }]);
    expect(await failure(composite.prompts.getPrompt("a__p", {}, ctx))).toBe(a.failures.prompts);
    expect(await composite.callTool("a__t", {}, ctx)).toBe("a:t");
    delete a.failures.prompts;
    expect(await names(composite)).toEqual(["a__p", "b__p"]);
  });

  test("are read again after their own changes only", async () => {
    const a = new FakeLibrary("a", { prompts: ["old"], resources: ["x://a"], tools: ["t"] });
    const { composite } = compositeOf(a);
    const all = ["tool", "prompt", "resource", "resourceTemplate"] as const;
    for (const kind of all) await composite.items(kind);
    a.asked.length = a.lists = 0;
    a.holdings = { ...a.holdings, prompts: ["new"] };
    a.change("tools");
    a.change("resources");
    expect(await names(composite)).toEqual(["a__old"]);
    a.change("prompts");
    for (const kind of all) await composite.items(kind);
    expect(await names(composite)).toEqual(["a__new"]);
    expect(a.asked).toEqual(["list prompts", "list resources", "list templates"]);
    expect(a.lists).toBe(1);
  });
});

describe("a completion", () => {
  test("goes to who has the prompt, with that one's own name, whichever name was said", async () => {
    const b = new FakeLibrary("b", { prompts: ["x.y"] });
    const { composite } = compositeOf(new FakeLibrary("a"), b);
    for (const name of [exposedName("b__x.y"), "b__x.y", "x.y"]) {
      expect(await composite.resolve(completeOf(name))).toMatchObject({ kind: "prompt", name: "x.y" });
      expect(await composite.complete(completionRequest(name), ctx)).toMatchObject({
        completion: { values: ["b", "x.y", "a", "x", expect.any(String)] },
      });
    }
  });

  test("goes to the first that has the template, or lists the resource", async () => {
    const [a, b] = [
      new FakeLibrary("a", { templates: ["x://{one}"] }),
      new FakeLibrary("b", { templates: ["x://{one}", "x://{two}"], resources: ["x://plain"] }),
    ];
    const { composite } = compositeOf(a, b);
    for (const name of ["x://{one}", "x://{two}", "x://plain"])
      await composite.complete(completionRequest(name), ctx);
    expect(a.asked.filter((one) => one.startsWith("complete"))).toEqual(["complete x://{one}"]);
    expect(b.asked.filter((one) => one.startsWith("complete"))).toEqual([
      "complete x://{two}",
      "complete x://plain",
    ]);
  });

  test.each(["nope", "a__nope", "x://{nope}"])("of %s, which nobody has, says so", async (name) => {
    const { composite } = compositeOf(new FakeLibrary("a", { prompts: ["p"] }));
    expect(await failure(composite.complete(completionRequest(name), ctx))).toMatchObject({
      code: "NotFound",
      message: `Unknown prompt or resource template: ${name}`,
    });
  });

  test("of who completes nothing is refused by name", async () => {
    const { prompts } = new FakeLibrary("a", { prompts: ["p"] });
    const mute: ToolProvider = {
      namespace: "a",
      listTools: async () => [],
      callTool: async () => "",
      prompts,
    };
    expect(await failure(compositeOf(mute).composite.complete(completionRequest("a__p"), ctx))).toMatchObject(
      {
        code: "Unsupported",
        message: "a completes no arguments.",
      },
    );
  });
});
