import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { recordings, type Recording } from "../../test/support/recordings.ts";
import { callOf, FakeProvider, keptLog } from "../../test/support/providers.ts";
import { exposedName, isNamespace, joinName } from "../core/names.ts";
import type { ToolProvider } from "../core/provider.ts";
import { BuiltinToolProvider } from "./builtin.ts";
import { CompositeToolProvider } from "./composite.ts";
import { exposedNameOf } from "./shelf.ts";

const clientsTake = /^[a-zA-Z0-9_-]{1,64}$/;

function compositeOf(providers: readonly ToolProvider[], kept = keptLog()): CompositeToolProvider {
  const composite = new CompositeToolProvider({ log: kept.log });
  for (const provider of providers) composite.add(provider);
  return composite;
}

describe("whatever the providers", () => {
  const namespace = fc
    .oneof(
      fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9-]{0,5}(_[a-zA-Z0-9-]{1,4}){0,2}$/),
      fc.constantFrom(
        "fs",
        "f",
        "fs_a",
        "n".repeat(54),
        "n".repeat(55),
        `${"n".repeat(54)}_x`,
        "n".repeat(70),
      ),
    )
    .filter(isNamespace);
  const plain = fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.string({ unit: "binary", maxLength: 4 }),
    fc.stringMatching(/^[a-z_.]{1,6}$/),
    fc.constantFrom("read", "a__b", "_x", "fs__read", "a.b", "a_b", "x".repeat(60), "x".repeat(61), ""),
  );
  /** Some tools are called what another provider's tool is called in the whole list. */
  const own = fc.oneof(
    plain,
    fc.tuple(namespace, plain).map(([namespace, own]) => exposedName(joinName(namespace, own))),
  );
  const provider = fc.tuple(namespace, fc.uniqueArray(own, { maxLength: 6 }));
  const providers = fc.uniqueArray(provider, { maxLength: 4, selector: ([namespace]) => namespace });
  const make = (from: [string, string[]][]) =>
    from.map(([namespace, own]) => new FakeProvider(namespace, own));

  test("each listed name is unique, one that clients take, and leads back to one tool, read or unread", async () => {
    await fc.assert(
      fc.asyncProperty(providers, async (from) => {
        const composite = compositeOf(make(from));
        const items = await composite.items("tool");
        const names = items.map(exposedNameOf);
        expect(new Set(names).size).toBe(names.length);
        for (const item of items) {
          const name = exposedNameOf(item);
          expect(name).toMatch(clientsTake);
          expect(await composite.resolve(callOf(name))).toBe(item);
          expect((await composite.resolve(callOf(item.canonicalName)))?.canonicalName).toBe(
            item.canonicalName,
          );
          expect((await compositeOf(make(from)).resolve(callOf(name)))?.canonicalName).toBe(
            item.canonicalName,
          );
        }
      }),
    );
  });

  test("what is not listed is in the log", async () => {
    await fc.assert(
      fc.asyncProperty(providers, async (from) => {
        const kept = keptLog();
        const listed = (await compositeOf(make(from), kept).items("tool")).map((item) => item.canonicalName);
        const all = from.flatMap(([namespace, own]) => own.map((name) => joinName(namespace, name)));
        const missing = all.filter((name) => !listed.includes(name));
        expect(kept.lines).toHaveLength(missing.length);
        for (const name of missing)
          expect(kept.lines.some((line) => line.message.startsWith(`${name} is left out`))).toBe(true);
      }),
    );
  });

  test("no name moves because another provider joined, wherever it stands", async () => {
    await fc.assert(
      fc.asyncProperty(providers, fc.nat(4), async (from, at) => {
        const joined = from[at % Math.max(1, from.length)];
        const before = await compositeOf(make(from.filter((one) => one !== joined))).items("tool");
        const after = compositeOf(make(from));
        for (const item of before) {
          const now = await after.resolve(callOf(exposedNameOf(item)));
          expect([now?.definition.name, now?.canonicalName]).toEqual([
            item.definition.name,
            item.canonicalName,
          ]);
        }
        const order = (await after.items("tool")).map((item) => item.canonicalName);
        const names = before.map((item) => item.canonicalName);
        expect(order.filter((name) => names.includes(name))).toEqual(names);
      }),
    );
  });
});

describe("the lists of real servers", () => {
  const serve = (lists: readonly Recording[]): CompositeToolProvider =>
    compositeOf(
      lists.map(({ name: namespace, tools }) =>
        BuiltinToolProvider.of(tools, (name) => `${namespace} ran ${name}`, namespace),
      ),
    );

  test("are listed whole, with valid unique names and all else unchanged", async ({ skip }) => {
    const lists = recordings(skip);
    const items = await serve(lists).items("tool");
    expect(items).toHaveLength(1_461);
    expect(new Set(items.map((item) => item.definition.name)).size).toBe(1_461);
    for (const item of items) expect(item.definition.name).toMatch(clientsTake);
    // None of them needs a safe name, so nothing but the name differs.
    const originals = lists.flatMap(({ name: namespace, tools }) =>
      tools.map((tool) => ({ ...tool, name: joinName(namespace, tool.name) })),
    );
    expect(items.map((item) => item.definition)).toEqual(originals);
  });

  test("lead back from each listed and each canonical name to exactly that tool", async ({ skip }) => {
    const lists = recordings(skip);
    const composite = serve(lists);
    const unread = serve(lists);
    for (const item of await composite.items("tool")) {
      expect(await composite.resolve(callOf(exposedNameOf(item)))).toBe(item);
      expect(await composite.resolve(callOf(item.canonicalName))).toBe(item);
      for (const name of [exposedNameOf(item), item.canonicalName])
        expect(await unread.resolve(callOf(name))).toMatchObject({
          name: item.name,
          canonicalName: item.canonicalName,
        });
    }
  });

  test("are the same bytes each time they are listed, and from each new composite", async ({ skip }) => {
    const lists = recordings(skip);
    const composite = serve(lists);
    const once = JSON.stringify(await composite.listTools());
    expect(JSON.stringify(await composite.listTools())).toBe(once);
    expect(JSON.stringify(await serve(lists).listTools())).toBe(once);
  });
});
