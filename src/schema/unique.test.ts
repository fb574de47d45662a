import fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { createAjvValidator } from "./ajvValidator.ts";

const check = (schema: object, trusted = true) =>
  createAjvValidator().compile({ properties: { list: schema } }, { trusted });

test("uniqueItems is what it was: equal by value, members in any order", async () => {
  const unique = check({ uniqueItems: true });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 5 }), async (items) => {
      // JSON has no -0.
      const list = JSON.parse(JSON.stringify(items)) as unknown[];
      const expected = list.every(
        (one, at) => !list.slice(0, at).some((other) => isDeepStrictEqual(one, other)),
      );
      expect((await unique({ list })).ok).toBe(expected);
    }),
  );
  expect(
    await unique({
      list: [
        { a: 1, b: [{ c: 2, d: 3 }] },
        { b: [{ d: 3, c: 2 }], a: 1 },
      ],
    }),
  ).toEqual({
    ok: false,
    issues: [{ path: "/list", message: "must not have duplicate items" }],
  });
  expect((await unique({ list: [1, "1", [1], null, "null"] })).ok).toBe(true);
  expect((await unique({ list: "text" })).ok).toBe(true);
  expect((await check({ uniqueItems: false })({ list: [1, 1] })).ok).toBe(true);
});

test("a long array does not block: each item is looked at once", async () => {
  const list = Array.from({ length: 100_000 }, (_, a) => ({ a }));
  const looks = { count: 0 };
  const counted = list.map((item) =>
    Object.defineProperty({}, "a", { enumerable: true, get: () => (looks.count++, item.a) }),
  );
  expect((await check({ uniqueItems: true }, false)({ list: counted })).ok).toBe(true);
  expect(looks.count).toBeLessThan(3 * list.length);
});
