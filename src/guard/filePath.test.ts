import fc from "fast-check";
import { expect, it } from "vitest";
import { ToolError } from "../core/errors.ts";
import { parseFilePath } from "./filePath.ts";

const fragment = fc.oneof(
  fc.constantFrom("/", "..", ".", "", "a", "\0", "\n", "\\", "/work", "/workshop", "//", "/proc/self/root"),
  fc.string({ unit: "binary", maxLength: 5 }),
);
const anyPath = fc.array(fragment, { maxLength: 8 }).map((parts) => parts.join(""));
const anyName = fc.string({ minLength: 1, maxLength: 20 }).filter((name) => !/^\.{1,2}$|[/\0]/.test(name));

/** The names that come out, or none where the path is refused as it should be. */
function names(root: string, path: string): readonly string[] {
  try {
    const { folders, name } = parseFilePath(root, path);
    return [...folders, name];
  } catch (error) {
    if (error instanceof ToolError) return [];
    throw error;
  }
}

it("whatever comes in, only single entries come out", () => {
  fc.assert(
    fc.property(anyPath, fc.constantFrom("/", "/work"), (path, root) => {
      const bad = names(root, path).filter((name) => !/^(?!\.{1,2}$)[^/\0]+$/s.test(name));
      expect(bad).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});

it("names that are joined come back, relative and absolute", () => {
  fc.assert(
    fc.property(
      fc.array(anyName, { minLength: 1, maxLength: 6 }),
      fc.constantFrom("/", "/work"),
      (names, root) => {
        const parsed = { folders: names.slice(0, -1), name: names.at(-1) };
        const path = names.join("/");
        expect(parseFilePath(root, path)).toEqual(parsed);
        expect(parseFilePath(root, `${root === "/" ? "" : root}/${path}`)).toEqual(parsed);
      },
    ),
  );
});

it("the limit is 4,096 bytes, not characters", () => {
  expect(parseFilePath("/work", "é".repeat(2048)).name).toHaveLength(2048);
  expect(() => parseFilePath("/work", "é".repeat(2049))).toThrow(/longer than 4096 bytes/);
});
