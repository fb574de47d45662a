import { describe, expect, test } from "vitest";
import { FakeLibrary, readOf, subscribeOf } from "../../test/support/library.ts";
import { FakeProvider, keptLog, unavailable } from "../../test/support/providers.ts";
import { Cancellation } from "../core/cancellation.ts";
import { ToolContext } from "../core/context.ts";
import type { ToolProvider } from "../core/provider.ts";
import { CompositeToolProvider } from "./composite.ts";
import { Mount } from "./mount.ts";
import { resourceProviderContract } from "./resourceProvider.contract.ts";

const ctx = new ToolContext();

resourceProviderContract("A local provider", (local) => local);
resourceProviderContract("CompositeToolProvider", (local) =>
  new CompositeToolProvider().add(new FakeProvider("near")).add(local),
);
resourceProviderContract("CompositeToolProvider, two deep,", (local) =>
  new CompositeToolProvider().add(new CompositeToolProvider({ namespace: "team" }).add(local)),
);

function compositeOf(...providers: readonly ToolProvider[]) {
  const kept = keptLog();
  const composite = new CompositeToolProvider({ log: kept.log });
  for (const provider of providers) composite.add(provider);
  return { composite, kept };
}

/** Who is asked to read a URI, in order, until one has it. */
async function readers(uri: string, ...libraries: readonly FakeLibrary[]): Promise<string[]> {
  const { composite } = compositeOf(...libraries);
  await composite.resources.readResource(uri, ctx).catch(() => {});
  return libraries.flatMap(({ namespace, asked }) => (asked.includes(`read ${uri}`) ? [namespace] : []));
}

describe("a listed URI", () => {
  test("is the first provider's that lists it; the other's is told, and reachable where it is served alone", async () => {
    const [a, b] = [
      new FakeLibrary("a", { resources: ["x://only", "x://both"] }),
      new FakeLibrary("b", { resources: ["x://both", "x://b"] }),
    ];
    const { composite, kept } = compositeOf(a, b);
    expect((await composite.items("resource")).map((item) => item.canonicalName)).toEqual([
      "a__x://only",
      "a__x://both",
      "b__x://b",
    ]);
    expect(kept.lines).toMatchObject([
      {
        level: "warning",
        message: "b__x://both is left out: a__x://both has its name. It is reachable where b is served alone",
      },
    ]);
    expect(await composite.resolve(readOf("x://both"))).toMatchObject({ provider: a });
    expect(await new Mount(b, { log: kept.log }).resolve(readOf("x://both"))).toMatchObject({ provider: b });
  });

  test("is found at once where all is read, and its owner alone is asked", async () => {
    const [a, b] = [
      new FakeLibrary("a", { templates: ["x://{any}"] }),
      new FakeLibrary("b", { resources: ["x://b"] }),
    ];
    const { composite } = compositeOf(a, b);
    const [item] = await composite.items("resource");
    expect(composite.resolve(readOf("x://b"))).toBe(item);
    expect(composite.resolve(subscribeOf("x://b"))).toBe(item);
    expect(await readers("x://b", a, b)).toEqual(["b"]);
  });

  test("is not mangled, whatever it is, and has all that its definition says", async () => {
    const definition = { uri: "x://a.b/c d?é#🙂", name: "n", _meta: { k: 1 } };
    const { composite } = compositeOf(new FakeLibrary("a", { resources: [definition] }));
    expect((await composite.items("resource"))[0]!.definition).toBe(definition);
  });
});

describe("a URI that no list has", () => {
  test("is the first provider's whose template it fits, under the template's name", async () => {
    const [a, b] = [
      new FakeLibrary("a", { templates: ["x://{one}/z", "x://{one}/{two}"] }),
      new FakeLibrary("b", { templates: ["x://{+all}"], there: ["x://1/2/3"] }),
    ];
    const { composite } = compositeOf(a, b);
    expect(await composite.resolve(readOf("x://1/2"))).toMatchObject({
      kind: "resourceTemplate",
      provider: a,
      name: "x://{one}/{two}",
      canonicalName: "a__x://{one}/{two}",
    });
    expect(await composite.resolve(readOf("x://1/2/3"))).toMatchObject({ provider: b });
    expect(await composite.resources.readResource("x://1/2/3", ctx)).toMatchObject({
      contents: [{ text: "b has it" }],
    });
  });

  test("stays there though the owner of the template does not have it", async () => {
    const [a, b] = [
      new FakeLibrary("a", { templates: ["x://{one}"] }),
      new FakeLibrary("b", { resources: ["x://b"], there: ["x://1"] }),
    ];
    expect(await readers("x://1", a, b)).toEqual(["a"]);
  });

  test("of a template that two have is the first one's, and the other's where it is served alone", async () => {
    const [a, b] = ["a", "b"].map((namespace) => new FakeLibrary(namespace, { templates: ["x://{one}"] }));
    const { composite, kept } = compositeOf(a!, b!);
    expect(await composite.items("resourceTemplate")).toMatchObject([{ provider: a }]);
    expect(kept.lines).toMatchObject([
      { message: expect.stringContaining("b__x://{one} is left out: a__x://{one} has its name") },
    ]);
    expect(await composite.resolve(readOf("x://1"))).toMatchObject({ provider: a });
    expect(await new Mount(b!, { log: kept.log }).resolve(readOf("x://1"))).toMatchObject({ provider: b });
  });

  test("is asked, in order, of those that have anything under its scheme, and of nobody else", async () => {
    const [a, b, c, d, e] = [
      new FakeLibrary("a", { resources: ["other://x"], there: ["X://hidden"] }),
      new FakeLibrary("b", { resources: ["x://b"] }),
      new FakeLibrary("c", { templates: ["x://c/{one}"], there: ["X://hidden"] }),
      new FakeLibrary("d", { resources: ["x://d"], there: ["X://hidden"] }),
      new FakeLibrary("e", { resources: ["xx://e", "notx:x://"] }),
    ];
    expect(await readers("X://hidden", a, b, c, d, e)).toEqual(["b", "c"]);
    expect(await readers("x://nowhere", a, b, c, d, e)).toEqual(["b", "c", "d"]);
  });

  test("is asked of who has the scheme also where all that it lists is the first one's", async () => {
    const a = new FakeLibrary("a", { resources: ["x://both"] });
    const b = new FakeLibrary("b", { resources: ["x://both"], there: ["x://hidden"] });
    expect(await readers("x://hidden", a, b)).toEqual(["a", "b"]);
  });

  test.each(["", "no-scheme", "/etc/passwd", "1x://a", "://a", "{x}://a", "é://a"])(
    "%j, without a scheme, is nobody's",
    async (uri) => {
      const a = new FakeLibrary("a", { resources: ["x://a", "", "no-scheme:"], there: [uri] });
      const { composite } = compositeOf(a);
      expect(await composite.resolve(readOf(`${uri}2`))).toBeUndefined();
      await expect(composite.resources.readResource(`${uri}2`, ctx)).rejects.toMatchObject({
        code: "NotFound",
        message: `Resource not found: ${uri}2`,
      });
      expect(a.asked.filter((one) => one.startsWith("read"))).toEqual([]);
    },
  );

  test("of who has no resources at all is never asked", async () => {
    const { composite } = compositeOf(new FakeProvider("a", ["t"]));
    expect(await composite.resolve(readOf("x://a"))).toBeUndefined();
    expect(await composite.items("resource")).toEqual([]);
    expect(await composite.items("resourceTemplate")).toEqual([]);
  });

  test("another failure than NotFound ends the search", async () => {
    const a = new FakeLibrary("a", { resources: ["x://a"], there: ["x://hidden"] });
    const b = new FakeLibrary("b", { resources: ["x://b"], there: ["x://hidden"] });
    a.reply = () => Promise.reject(unavailable("a"));
    const { composite } = compositeOf(a, b);
    await expect(composite.resources.readResource("x://hidden", ctx)).rejects.toMatchObject({
      code: "Unavailable",
    });
    expect(b.asked).not.toContain("read x://hidden");
  });
});

describe("changes and absence", () => {
  test("resources and templates are read again after a change of resources, each list once", async () => {
    const [a, b] = [
      new FakeLibrary("a", { resources: ["x://old"], templates: ["x://old/{a}"] }),
      new FakeLibrary("b", { resources: ["x://b"] }),
    ];
    const { composite } = compositeOf(a, b);
    const list = async (): Promise<unknown[]> => [
      (await composite.resources.listResources()).map(({ uri }) => uri),
      (await composite.resources.listResourceTemplates()).map(({ uriTemplate }) => uriTemplate),
    ];
    await list();
    a.holdings = { resources: ["x://new"], templates: ["x://new/{a}"] };
    a.change("prompts");
    a.change("tools");
    expect(await list()).toEqual([["x://old", "x://b"], ["x://old/{a}"]]);
    a.change("resources");
    expect(await list()).toEqual([["x://new", "x://b"], ["x://new/{a}"]]);
    expect(a.asked).toEqual(["list resources", "list templates", "list resources", "list templates"]);
    expect(b.asked).toEqual(["list resources", "list templates"]);
  });

  test("who is away is left out and asked again, and the others are there", async () => {
    const a = new FakeLibrary("a", { resources: ["x://a"] });
    const b = new FakeLibrary("b", { resources: ["x://b"] });
    a.failures.resources = a.failures.templates = unavailable("a");
    const { composite, kept } = compositeOf(a, b);
    expect(await composite.resources.listResources()).toMatchObject([{ uri: "x://b" }]);
    expect(await composite.resources.readResource("x://b", ctx)).toMatchObject({ contents: [{}] });
    expect(kept.lines[0]).toMatchObject({ level: "info", message: "a cannot list its resources now" });
    delete a.failures.resources;
    expect(await composite.resources.listResources()).toMatchObject([{ uri: "x://a" }, { uri: "x://b" }]);
  });
});

test("what is left out is told once, however often the lists are put together, and in few lines", async () => {
  const resources = Array.from({ length: 1_000 }, (_, at) => `x://${at}`);
  const [a, b] = ["a", "b"].map((namespace) => new FakeLibrary(namespace, { resources }));
  const away = new FakeLibrary("c");
  away.failures.resources = unavailable("c");
  const { composite, kept } = compositeOf(a!, b!, away);
  for (let n = 0; n < 3; n++) await composite.items("resource");
  const told = (): string[] =>
    kept.lines.flatMap(({ level, message }) => (level === "warning" ? [message] : []));
  expect(told()).toHaveLength(21);
  expect(told().at(-1)).toBe("980 more are left out: their names are taken.");
  b!.holdings = { resources: ["x://1", "x://a"] };
  a!.holdings = { resources: ["x://1", "x://a"] };
  for (const changed of [a!, b!]) changed.change("resources");
  await composite.items("resource");
  expect(told().slice(21)).toMatchObject([expect.stringContaining("b__x://a is left out")]);
});

describe("a subscription", () => {
  test("is its owner's, also of a URI that a template leads to", async () => {
    const a = new FakeLibrary("a", { templates: ["x://{one}"] });
    const { composite } = compositeOf(a);
    const heard: unknown[] = [];
    const subscriber = {
      updated: (params: unknown) => void heard.push(params),
      cancellation: new Cancellation(),
    };
    await composite.resources.subscribe!("x://1", subscriber, ctx);
    a.update("x://1");
    expect(heard).toEqual([{ uri: "x://1" }]);
  });

  test("to who tells no changes is refused", async () => {
    const { subscribe: _, ...resources } = new FakeLibrary("a", { resources: ["x://a"] }).resources;
    const still: ToolProvider = {
      namespace: "a",
      listTools: async () => [],
      callTool: async () => "",
      resources,
    };
    const subscriber = { updated: () => {}, cancellation: new Cancellation() };
    await expect(
      compositeOf(still).composite.resources.subscribe!("x://a", subscriber, ctx),
    ).rejects.toMatchObject({
      code: "Unsupported",
      message: "Changes of x://a are not told by whoever serves it.",
    });
  });
});
