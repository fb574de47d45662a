import { describe, expect, test } from "vitest";
import {
  callOf,
  deferred,
  definition,
  FakeProvider,
  keptLog,
  unavailable,
} from "../../test/support/providers.ts";
import { ToolContext } from "../core/context.ts";
import { ToolError, type ToolErrorCode } from "../core/errors.ts";
import { exposedName } from "../core/names.ts";
import type { ToolProvider } from "../core/provider.ts";
import type { ToolDefinition } from "../core/tool.ts";
import { createCaller } from "../runtime/call.ts";
import { ToolRegistry } from "../runtime/registry.ts";
import { BuiltinToolProvider } from "./builtin.ts";
import { CompositeToolProvider } from "./composite.ts";
import { exposedNameOf } from "./shelf.ts";
import { toolProviderContract } from "./toolProvider.contract.ts";

const ctx = new ToolContext();

const contractComposite = (...namespaces: readonly string[]) =>
  toolProviderContract(
    `CompositeToolProvider, ${namespaces.length} deep,`,
    (tools) => {
      const registry = new ToolRegistry();
      for (const tool of tools) registry.register(tool);
      const [innermost, ...outer] = namespaces.toReversed();
      let provider: ToolProvider = BuiltinToolProvider.over(registry, innermost);
      for (const namespace of [...outer, "top"]) {
        const composite = new CompositeToolProvider({ namespace }).add(provider);
        provider = composite;
      }
      return provider;
    },
    namespaces.map((namespace) => `${namespace}__`).join(""),
  );

contractComposite("x");
contractComposite("x", "y", "z");

function compositeOf(...providers: readonly ToolProvider[]) {
  const kept = keptLog();
  const composite = new CompositeToolProvider({ log: kept.log });
  for (const provider of providers) composite.add(provider);
  return { composite, kept };
}

const listed = async (composite: CompositeToolProvider): Promise<string[]> =>
  (await composite.listTools()).map((tool) => tool.name);

const call = (composite: CompositeToolProvider, name: string) => composite.callTool(name, {}, ctx);
const codeOf = (error: unknown): unknown => (error instanceof ToolError ? error.code : error);
const failure = (promise: Promise<unknown>): Promise<unknown> => promise.then(() => "no failure", codeOf);

describe("mounting", () => {
  test("is refused for a malformed namespace, which the error explains", () => {
    const { composite } = compositeOf();
    for (const namespace of ["", "1a", "a__b", "a_", "_a", "a.b", "a b", "é"]) {
      expect(() => composite.add(new FakeProvider(namespace))).toThrow(
        `"${namespace}" cannot be a namespace: it starts with a letter`,
      );
    }
  });

  test("is refused for a namespace that is taken", () => {
    const { composite } = compositeOf(new FakeProvider("fs"));
    expect(() => composite.add(new FakeProvider("fs"))).toThrow(
      'There is a provider "fs" already. Give one of them another namespace.',
    );
  });

  test("the composite's own namespace is toolgate, or what the program says", () => {
    expect(new CompositeToolProvider().namespace).toBe("toolgate");
    expect(new CompositeToolProvider({ namespace: "team" }).namespace).toBe("team");
  });
});

describe("the list", () => {
  test("has the order of mounting, then each provider's own", async () => {
    const { composite } = compositeOf(new FakeProvider("z", ["b", "a"]), new FakeProvider("a", ["c"]));
    expect(await listed(composite)).toEqual(["z__b", "z__a", "a__c"]);
  });

  test("of nothing is empty", async () => {
    expect(await listed(compositeOf().composite)).toEqual([]);
  });

  test("keeps all that a definition says, with members that nobody here knows", async () => {
    const full: ToolDefinition = {
      name: "read",
      title: "Read",
      description: "Reads.",
      inputSchema: { type: "object", properties: { path: { type: "string" } }, "x-mine": 1 },
      outputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      _meta: { "example.com/k": 1 },
      execution: { taskSupport: "optional" },
    };
    const { composite } = compositeOf(BuiltinToolProvider.of([full], () => "", "fs"));
    expect(await composite.listTools()).toEqual([{ ...full, name: "fs__read" }]);
  });

  test("leaves out who cannot list, without a word, and who is away, with one", async () => {
    const away = new FakeProvider("away", ["x"]);
    away.listFailure = unavailable("away");
    const { composite, kept } = compositeOf(
      FakeProvider.unlisted("u", ["x"]),
      away,
      new FakeProvider("fs", ["read"]),
    );
    expect(await listed(composite)).toEqual(["fs__read"]);
    expect(kept.lines).toMatchObject([
      {
        message: "away cannot list its tools now",
        fields: { error: expect.stringContaining("cannot be reached") },
      },
    ]);
  });
});

describe("a prefixed name", () => {
  test("splits at the first __: a tool may hold more of them, or begin with one", async () => {
    const odd = ["a__b", "_x", "__x", "x__", "my_fs__read", ""];
    const fs = new FakeProvider("fs", odd);
    const { composite } = compositeOf(
      fs,
      new FakeProvider("my_fs", ["read"]),
      new FakeProvider("fs-a", ["b"]),
    );
    for (const name of odd) expect(await call(composite, `fs__${name}`)).toBe(`fs:${name}`);
    expect(await call(composite, "my_fs__read")).toBe("my_fs:read");
    expect(fs.called).toEqual(odd);
  });

  test("belongs to its namespace, not to a tool of that name elsewhere", async () => {
    const { composite } = compositeOf(new FakeProvider("a", ["fs__read"]), new FakeProvider("fs", ["read"]));
    expect(await call(composite, "fs__read")).toBe("fs:read");
    expect(await call(composite, "a__fs__read")).toBe("a:fs__read");
  });

  test("of an unknown namespace is not there, and nobody is asked", async () => {
    const fs = new FakeProvider("fs", ["zz__read", "read"]);
    const unlisted = FakeProvider.unlisted("u", ["zz__read"]);
    const { composite } = compositeOf(unlisted, fs);
    expect(composite.resolve(callOf("zz__read"))).toBeUndefined();
    expect(await failure(call(composite, "zz__read"))).toBe("NotFound");
    expect([fs.lists, unlisted.lists, ...fs.called, ...unlisted.called]).toEqual([0, 0]);
  });

  test("asks its own provider for a list, and no other", async () => {
    const [a, b] = [new FakeProvider("a", ["x"]), new FakeProvider("b", ["x"])];
    const { composite } = compositeOf(a, b);
    expect(await call(composite, "b__x")).toBe("b:x");
    expect([a.lists, b.lists]).toEqual([0, 1]);
  });

  test("of a provider that is away is refused as unavailable", async () => {
    const away = new FakeProvider("away", ["x"]);
    away.listFailure = unavailable("away");
    const { composite } = compositeOf(away);
    await expect(composite.resolve(callOf("away__x"))).rejects.toBe(away.listFailure);
    expect(await failure(call(composite, "away__x"))).toBe("Unavailable");
  });

  test("of a provider that cannot list goes straight to it", async () => {
    const { composite } = compositeOf(FakeProvider.unlisted("u", ["x"]), new FakeProvider("b", ["y"]));
    expect(await call(composite, "u__x")).toBe("u:x");
    expect(await failure(call(composite, "u__y"))).toBe("NotFound");
  });

  test("is resolved to where it lives", async () => {
    const fs = new FakeProvider("fs", ["read"]);
    fs.factsOf = () => ({ timeoutMs: 7 });
    expect(await compositeOf(fs).composite.resolve(callOf("fs__read"))).toEqual({
      kind: "tool",
      provider: fs,
      name: "read",
      canonicalName: "fs__read",
      definition: definition("fs__read"),
      facts: { timeoutMs: 7 },
    });
  });
});

describe("a name without a namespace", () => {
  test("belongs to the first catalogue that has it, and nothing is called to find out", async () => {
    const [a, b, c] = [
      new FakeProvider("a", ["x"]),
      new FakeProvider("b", ["read"]),
      new FakeProvider("c", ["read"]),
    ];
    const { composite } = compositeOf(a, b, c);
    expect((await composite.resolve(callOf("read")))?.canonicalName).toBe("b__read");
    expect(await composite.resolve(callOf("write"))).toBeUndefined();
    expect([a, b, c].flatMap((provider) => provider.called)).toEqual([]);
    expect(await call(composite, "read")).toBe("b:read");
    expect([a, b, c].map((provider) => provider.called)).toEqual([[], ["read"], []]);
  });

  test("stays there though its provider says NotFound: only who cannot list passes it on", async () => {
    const [a, b] = [new FakeProvider("a", ["read"]), new FakeProvider("b", ["read"])];
    a.answer = (name) => Promise.reject(ToolError.notFound(name));
    expect(await failure(call(compositeOf(a, b).composite, "read"))).toBe("NotFound");
    expect(b.called).toEqual([]);
  });

  test("may begin with __, as no namespace does", async () => {
    expect(await call(compositeOf(new FakeProvider("a", ["__x"])).composite, "__x")).toBe("a:__x");
  });

  test("passes over who is away", async () => {
    const away = new FakeProvider("a", ["read"]);
    away.listFailure = unavailable("a");
    expect(await call(compositeOf(away, new FakeProvider("b", ["read"])).composite, "read")).toBe("b:read");
    expect(await failure(call(compositeOf(away).composite, "read"))).toBe("NotFound");
  });

  test("is tried on who cannot list by calling, in order, as long as they say NotFound", async () => {
    const [u, a, v, b] = [
      FakeProvider.unlisted("u", ["other"]),
      new FakeProvider("a", ["x"]),
      FakeProvider.unlisted("v"),
      new FakeProvider("b", ["read"]),
    ];
    const { composite } = compositeOf(u, a, v, b);
    await composite.resolve(callOf("read"));
    expect(u.called).toEqual([]);
    expect(await call(composite, "read")).toBe("b:read");
    expect([u, a, v, b].map((provider) => provider.called)).toEqual([["read"], [], ["read"], ["read"]]);
    expect(await call(composite, "other")).toBe("u:other");
  });

  test("is not tried on who stands behind its owner", async () => {
    const behind = FakeProvider.unlisted("u", ["read"]);
    expect(await call(compositeOf(new FakeProvider("a", ["read"]), behind).composite, "read")).toBe("a:read");
    expect(behind.called).toEqual([]);
  });

  test("that nobody has is NotFound in the end", async () => {
    const { composite } = compositeOf(FakeProvider.unlisted("u"), FakeProvider.unlisted("v"));
    await expect(call(composite, "read")).rejects.toMatchObject({
      code: "NotFound",
      message: "Unknown tool: read",
    });
  });

  test.each<ToolErrorCode>(["Unavailable", "PermissionDenied", "ExecutionFailed", "UpstreamError"])(
    "any other error (%s) ends the search",
    async (code) => {
      const u = FakeProvider.unlisted("u", ["read"]);
      u.answer = () => Promise.reject(new ToolError(code, "no"));
      const b = new FakeProvider("b", ["read"]);
      expect(await failure(call(compositeOf(u, b).composite, "read"))).toBe(code);
      expect(b.called).toEqual([]);
    },
  );

  test("goes the same way through a caller, which judges each candidate by its own name", async () => {
    const [u, b] = [FakeProvider.unlisted("u"), new FakeProvider("b", ["read"])];
    const { composite: resolver } = compositeOf(u, b);
    const outcome = await createCaller({ resolver }).call(callOf("read"), ctx);
    expect(outcome).toMatchObject({ type: "result", result: { content: [{ text: "b:read" }] } });
    const hidden = createCaller({
      resolver,
      middleware: [{ name: "guard", visible: (item) => item.canonicalName !== "b__read" }],
    });
    expect(await hidden.call(callOf("read"), ctx)).toMatchObject({ error: { code: "NotFound" } });
    expect(b.called).toEqual(["read"]);
  });
});

describe("a name that clients would refuse", () => {
  const cases: [string, string][] = [
    ["a dot", "read.file"],
    ["a space", "read file"],
    ["a slash", "repos/get"],
    ["another script", "читать"],
    ["more than 64 characters", "x".repeat(61)],
    ["far more than 64 characters", "long_".repeat(40)],
  ];

  test.each(cases)("for %s is made safe, and leads back", async (_what, own) => {
    const { composite } = compositeOf(new FakeProvider("fs", ["plain", own]));
    const item = (await composite.items("tool"))[1]!;
    const name = exposedNameOf(item);
    expect(name).toMatch(/^fs__[a-zA-Z0-9_-]{1,60}$/);
    expect(name).toMatch(/_[0-9a-f]{8}$/);
    expect(name).toBe(exposedName(`fs__${own}`));
    expect(item.definition["_meta"]).toEqual({ "dev.toolgate/originalName": own });
    expect(item).toMatchObject({ name: own, canonicalName: `fs__${own}` });
    for (const said of [name, `fs__${own}`, own]) {
      expect(await call(composite, said)).toBe(`fs:${own}`);
      // Also without the whole list at hand.
      expect(await call(compositeOf(new FakeProvider("fs", [own])).composite, said)).toBe(`fs:${own}`);
    }
  });

  test("a name of exactly 64 characters stays, and has no original", async () => {
    const own = "x".repeat(60);
    const { composite } = compositeOf(new FakeProvider("fs", [own]));
    expect(await composite.listTools()).toEqual([definition(`fs__${own}`)]);
  });

  test("the original's name stands beside what _meta held", async () => {
    const tool = { ...definition("a.b"), _meta: { mine: 1 } };
    const { composite } = compositeOf(BuiltinToolProvider.of([tool], () => "", "fs"));
    expect((await composite.listTools())[0]?._meta).toEqual({ mine: 1, "dev.toolgate/originalName": "a.b" });
    expect(tool._meta).toEqual({ mine: 1 });
  });

  test("names that differ in what is not safe only stay apart", async () => {
    const own = ["a.b", "a b", "a/b", "a_b"];
    const { composite } = compositeOf(new FakeProvider("fs", own));
    const names = await listed(composite);
    expect(new Set(names).size).toBe(4);
    for (const [at, name] of names.entries()) expect(await call(composite, name)).toBe(`fs:${own[at]!}`);
  });

  test.each([0, 1])("a collision is refused by name and logged, whoever comes first (%i)", async (first) => {
    const taken = exposedName("fs__a.b").slice("fs__".length);
    const own = first === 0 ? ["a.b", taken] : [taken, "a.b"];
    const { composite, kept } = compositeOf(new FakeProvider("fs", own));
    expect(await listed(composite)).toEqual([`fs__${taken}`]);
    expect(kept.lines).toMatchObject([
      {
        level: "warning",
        message: `fs__${own[1]!} is left out: its name fs__${taken} is taken by fs__${own[0]!}`,
      },
    ]);
    expect(await call(composite, `fs__${taken}`)).toBe(`fs:${own[0]!}`);
  });

  test("a cut name without its namespace is its owner's, not a tool's elsewhere that is called the same", async () => {
    const long = "n".repeat(60);
    const cut = exposedName(`${long}__read`);
    expect(cut).not.toContain("__");
    const impostor = new FakeProvider("a", [cut]);
    const { composite } = compositeOf(impostor, new FakeProvider(long, ["read"]));
    expect(await call(composite, cut)).toBe(`${long}:read`);
    await composite.items("tool");
    expect(await call(composite, cut)).toBe(`${long}:read`);
    expect(impostor.called).toEqual([]);
  });

  test("a cut name that seems to be of another namespace is its owner's as well", async () => {
    const short = "n".repeat(54);
    const cut = exposedName(`${short}_more__read`);
    expect(cut.startsWith(`${short}__`)).toBe(true);
    const impostor = new FakeProvider(short, [cut.slice(-8)]);
    const owner = new FakeProvider(`${short}_more`, ["read"]);
    const { composite, kept } = compositeOf(owner, impostor);
    expect(await call(composite, cut)).toBe(`${short}_more:read`);
    expect(await listed(composite)).toEqual([cut]);
    expect(kept.lines.map((line) => line.message)).toContain(
      `${short}__${cut.slice(-8)} is left out: ${short}_more__read has its name. It is reachable where ${short} is served alone`,
    );
  });
});

describe("changes", () => {
  test("of a provider show in the list and in what a name leads to", async () => {
    const fs = new FakeProvider("fs", ["old"]);
    const { composite } = compositeOf(fs, new FakeProvider("b", ["x"]));
    expect(await listed(composite)).toEqual(["fs__old", "b__x"]);
    fs.tools = ["new"];
    fs.change();
    expect(await call(composite, "fs__new")).toBe("fs:new");
    expect(await failure(call(composite, "fs__old"))).toBe("NotFound");
    expect(await listed(composite)).toEqual(["fs__new", "b__x"]);
  });

  test("ask only who changed, and only after a change", async () => {
    const [fs, b] = [new FakeProvider("fs", ["x"]), new FakeProvider("b", ["x"])];
    const { composite } = compositeOf(fs, b);
    await listed(composite);
    await listed(composite);
    await composite.resolve(callOf("fs__x"));
    await composite.resolve(callOf("x"));
    await composite.resolve(callOf("b__nope"));
    fs.change("resources");
    await listed(composite);
    expect([fs.lists, b.lists]).toEqual([1, 1]);
    fs.change();
    await listed(composite);
    expect([fs.lists, b.lists]).toEqual([2, 1]);
  });

  test("while the list is being read are not lost", async () => {
    const [fs, b] = [new FakeProvider("fs", ["old"]), new FakeProvider("b", ["x"])];
    const { composite } = compositeOf(fs, b);
    const reading = deferred();
    b.whileListing = () => reading.promise;
    const waiting = listed(composite);
    fs.tools = ["new"];
    fs.change();
    b.whileListing = undefined;
    reading.resolve();
    await waiting;
    expect(await listed(composite)).toEqual(["fs__new", "b__x"]);
    expect(await failure(call(composite, "fs__old"))).toBe("NotFound");
  });

  test("a slow old reading does not replace a newer one", async () => {
    const fs = new FakeProvider("fs", ["old"]);
    const { composite } = compositeOf(fs);
    const reading = deferred();
    fs.whileListing = () => reading.promise;
    const slow = listed(composite);
    fs.whileListing = undefined;
    fs.tools = ["new"];
    fs.change();
    expect(await listed(composite)).toEqual(["fs__new"]);
    reading.resolve();
    expect(await slow).toEqual(["fs__old"]);
    expect(await listed(composite)).toEqual(["fs__new"]);
    expect((await composite.resolve(callOf("fs__new")))?.name).toBe("new");
    expect(fs.lists).toBe(2);
  });

  test("are told on, with their kind, until nobody listens", () => {
    const fs = new FakeProvider("fs");
    const { composite } = compositeOf(fs);
    const kinds: string[] = [];
    const stop = composite.watch((kind) => kinds.push(kind));
    fs.change();
    fs.change("prompts");
    composite.add(new FakeProvider("b"));
    stop();
    fs.change();
    expect(kinds).toEqual(["tools", "prompts", "tools", "prompts", "resources"]);
  });

  test("a provider that joins is listed last", async () => {
    const { composite } = compositeOf(new FakeProvider("fs", ["read"]));
    await listed(composite);
    composite.add(new FakeProvider("a", ["x"]));
    expect(await listed(composite)).toEqual(["fs__read", "a__x"]);
  });

  test("a provider that is away leaves the others alone and is asked again next time", async () => {
    const [fs, b] = [new FakeProvider("fs", ["read"]), new FakeProvider("b", ["x"])];
    fs.listFailure = unavailable("fs");
    const { composite } = compositeOf(fs, b);
    expect(await listed(composite)).toEqual(["b__x"]);
    expect(await call(composite, "b__x")).toBe("b:x");
    expect(await failure(call(composite, "fs__read"))).toBe("Unavailable");
    fs.listFailure = undefined;
    expect(await call(composite, "fs__read")).toBe("fs:read");
    expect(await listed(composite)).toEqual(["fs__read", "b__x"]);
    expect(b.lists).toBe(1);
  });

  test("a provider that goes away while it is known stays, until it says that its tools changed", async () => {
    const fs = new FakeProvider("fs", ["read"]);
    const { composite } = compositeOf(fs);
    await listed(composite);
    fs.listFailure = unavailable("fs");
    expect(await listed(composite)).toEqual(["fs__read"]);
    fs.change();
    expect(await listed(composite)).toEqual([]);
    fs.listFailure = undefined;
    fs.change();
    expect(await listed(composite)).toEqual(["fs__read"]);
  });
});

describe("a composite in a composite", () => {
  const nested = (...providers: readonly ToolProvider[]) => {
    const inner = new CompositeToolProvider({ namespace: "team" });
    for (const provider of providers) inner.add(provider);
    return { inner, outer: new CompositeToolProvider().add(inner) };
  };

  test("has the namespaces one before the other", async () => {
    const fs = new FakeProvider("fs", ["read", "a.b"]);
    const { outer } = nested(fs);
    const mangled = exposedName("fs__a.b");
    expect(await listed(outer)).toEqual(["team__fs__read", `team__${mangled}`]);
    expect(await call(outer, "team__fs__read")).toBe("fs:read");
    expect(await call(outer, `team__${mangled}`)).toBe("fs:a.b");
  });

  test("passes changes on", async () => {
    const fs = new FakeProvider("fs", ["read"]);
    const { outer } = nested(fs);
    await listed(outer);
    fs.tools = ["write"];
    fs.change();
    expect(await listed(outer)).toEqual(["team__fs__write"]);
  });

  test("carries the facts of a tool, also while another provider is away", async () => {
    const fs = new FakeProvider("fs", ["run"]);
    fs.factsOf = () => ({ capabilities: { exec: true } });
    const away = new FakeProvider("away", ["x"]);
    away.listFailure = unavailable("away");
    const { outer } = nested(fs, away);
    const facts = { capabilities: { exec: true } };
    expect((await outer.resolve(callOf("team__fs__run")))?.facts).toEqual(facts);
    expect((await outer.items("tool")).map((item) => item.facts)).toEqual([facts]);
  });

  test("carries them also for a reading that a change made old", async () => {
    const fs = new FakeProvider("fs", ["run"]);
    fs.factsOf = () => ({ capabilities: { exec: true } });
    const { outer } = nested(fs);
    const reading = deferred();
    fs.whileListing = () => reading.promise;
    const waiting = outer.resolve(callOf("team__fs__run"));
    fs.whileListing = undefined;
    fs.change();
    reading.resolve();
    expect((await waiting)?.facts).toEqual({ capabilities: { exec: true } });
  });
});

describe("close", () => {
  test("closes every provider", async () => {
    const all = [new FakeProvider("a"), new FakeProvider("b")];
    await compositeOf(...all).composite.close();
    expect(all.map((one) => one.closes)).toEqual([1, 1]);
  });

  test("waits for all of them, also when one fails, and then says so", async () => {
    const slow = deferred();
    let closed = false;
    const broken = { ...quiet("a"), close: () => Promise.reject(new Error("stuck")) };
    const patient = {
      ...quiet("b"),
      close: async () => {
        await slow.promise;
        closed = true;
      },
    };
    const closing = compositeOf(broken, patient).composite.close();
    slow.resolve();
    await expect(closing).rejects.toThrow("stuck");
    expect(closed).toBe(true);
  });
});

/** The least that a provider is. */
const quiet = (namespace: string): ToolProvider => ({
  namespace,
  listTools: async () => [definition("x")],
  callTool: async () => "x",
});

test("a provider with the three required members is enough", async () => {
  const { composite } = compositeOf(quiet("q"));
  expect(await listed(composite)).toEqual(["q__x"]);
  expect(await call(composite, "q__x")).toBe("x");
  expect((await composite.resolve(callOf("q__x")))?.facts).toEqual({});
  await expect(composite.close()).resolves.toBeUndefined();
});
