import { expect, test } from "vitest";
import { anchorsOf, linksOf, scriptsOf } from "./markdown.ts";

test("links are found in prose, not in code", () => {
  const markdown = '[a](a.md) ![b](b.png "B") [c](<c.md#x>)\n`[d](d.md)`\n```\n[e](e.md)\n```\n[f](f.md)';
  expect(linksOf(markdown)).toEqual(["a.md", "b.png", "c.md#x", "f.md"]);
});

test("anchors are those of headings, as GitHub writes them", () => {
  expect(anchorsOf("# One call, from A to `b`\n\ntext # no\n```\n# no\n```\n## Two--three")).toEqual([
    "one-call-from-a-to-b",
    "two--three",
  ]);
});

test("scripts are found wherever a command names them", () => {
  expect(
    scriptsOf("Run `npm run types`, `npm run -s exports:update` or\n```\nnpm run bench -- --rounds 3\n```"),
  ).toEqual(["types", "exports:update", "bench"]);
});
