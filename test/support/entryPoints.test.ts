import { expect, test } from "vitest";
import { builtinsReachedFrom, exportedNames } from "./entryPoints.ts";

test("names are sorted, and types marked however they are written", () => {
  const source =
    'export { b, type C } from "./x.ts"; export type { A } from "./y.ts"; export { z as d } from "./z.ts";';
  expect(exportedNames("src/index.ts", source)).toEqual(["b", "d", "type A", "type C"]);
});

test.each(['export * from "./x.ts";', "export const a = 1;", "export default 1;", 'import "./x.ts";'])(
  "%s is refused",
  (source) => {
    expect(() => exportedNames("src/index.ts", source)).toThrow("src/index.ts holds");
  },
);

test("built-ins are found through other files, not through types", () => {
  const files = new Map([
    ["src/index.ts", 'export { a } from "./core/a.ts"; export type { B } from "./core/b.ts";'],
    [
      "src/core/a.ts",
      'import "node:fs"; import type { X } from "node:net"; export type { X }; export const a = 1;',
    ],
    ["src/core/b.ts", 'import "node:http"; export type B = 1;'],
  ]);
  expect(builtinsReachedFrom("src/index.ts", files)).toEqual(["src/core/a.ts imports node:fs"]);
});
