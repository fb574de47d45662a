import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import type { Operation } from "../../core/operation.ts";
import { digestOf, Seal, type SealedState } from "./seal.ts";

const text = fc.string({ unit: "binary" });
const states: fc.Arbitrary<SealedState> = fc.record(
  {
    principal: text,
    digest: text,
    expires: fc.integer(),
    held: text,
    asked: fc.record({ canonicalName: text, requestState: text }, { requiredKeys: ["canonicalName"] }),
  },
  { requiredKeys: ["principal", "digest", "expires"], noNullPrototype: true },
);

const alphabet = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");

describe("a seal", () => {
  const seal = new Seal();

  test("opens what it closed, which looks different each time", async () => {
    await fc.assert(
      fc.asyncProperty(states, async (state) => {
        const [one, other] = [await seal.close(state), await seal.close(state)];
        expect(one).toMatch(/^[\w-]+$/);
        expect(one).not.toBe(other);
        expect(await seal.open(one)).toEqual(JSON.parse(JSON.stringify(state)));
      }),
    );
  });

  test("opens nothing else: not with any character changed, left out or added", async () => {
    await fc.assert(
      fc.asyncProperty(states, fc.nat(), fc.constantFrom(...alphabet), async (state, n, char) => {
        const closed = await seal.close(state);
        const at = n % closed.length;
        const [before, after] = [closed.slice(0, at), closed.slice(at + 1)];
        const forged = [before + after, before + char + closed[at]! + after, before, closed + char];
        if (char !== closed[at]) forged.push(before + char + after);
        for (const one of forged) expect(await seal.open(one)).toBeUndefined();
      }),
    );
  });

  test("opens no other text", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string(), fc.base64String(), fc.string({ unit: fc.constantFrom(...alphabet) })),
        async (one) => {
          expect(await seal.open(one)).toBeUndefined();
        },
      ),
    );
  });

  it("opens nothing of another", async () => {
    const closed = await new Seal().close({ principal: "p", digest: "d", expires: 1 });
    expect(await seal.open(closed)).toBeUndefined();
  });

  it("holds states that are as long as messages", async () => {
    const requestState = "\u00e4".repeat(1_000_000);
    const state = { principal: "p", digest: "d", expires: 1, asked: { canonicalName: "n", requestState } };
    expect(await seal.open(await seal.close(state))).toEqual(state);
  });
});

describe("the digest of an operation", () => {
  const digest = (args: JsonObject, more: Partial<Operation> = {}): Promise<string> =>
    digestOf({ kind: "tools/call", name: "t", arguments: args, ...more });
  const json = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });

  test("does not depend on the order of members, at any depth", async () => {
    await fc.assert(
      fc.asyncProperty(json, async (args) => {
        expect(await digest(reversed(args) as JsonObject)).toBe(await digest(args));
      }),
    );
  });

  test("differs for different arguments", async () => {
    await fc.assert(
      fc.asyncProperty(json, json, async (one, other) => {
        const same = JSON.stringify(normal(one)) === JSON.stringify(normal(other));
        expect((await digest(one)) === (await digest(other))).toBe(same);
      }),
    );
  });

  it.each<[string, JsonObject, JsonObject]>([
    ["a number and its text", { a: 1 }, { a: "1" }],
    ["null and nothing", { a: null }, {}],
    ["an object and a list", { a: { 0: 1 } }, { a: [1] }],
    ["lists in another order", { a: [1, 2] }, { a: [2, 1] }],
    ["a member that hides", JSON.parse('{"__proto__": {"a": 1}}'), {}],
  ])("tells apart %s", async (_what, one, other) => {
    expect(await digest(one)).not.toBe(await digest(other));
  });

  it("tells apart kinds and names", async () => {
    const digests = [
      await digest({}),
      await digest({}, { name: "u" }),
      await digest({}, { kind: "prompts/get" }),
    ];
    expect(new Set(digests).size).toBe(3);
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, one]) => [key, reversed(one)]),
  );
}

/** As pairs in order, so that no name of a member is special. */
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== "object" || value === null) return value;
  const pairs = Object.entries(value).map(([key, one]) => [key, normal(one)] as const);
  return { pairs: pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)) };
}
