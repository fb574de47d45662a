import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exposedName, isNamespace, joinName, splitName, toNamespace } from "./names.ts";

const namespace = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9-]{0,10}(_[a-zA-Z0-9-]{1,10}){0,3}$/);
const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.stringMatching(/^[_a-b0-9. -]{0,12}$/),
);

describe("namespaces", () => {
  test.each(["a", "fs", "Fs-2", "my_files", "a-_b"])("%j is one", (text) => {
    expect(isNamespace(text)).toBe(true);
  });

  test.each(["", "2a", "_a", "-a", "a_", "a__b", "a b", "a.b", "ä", "a\n"])("%j is none", (text) => {
    expect(isNamespace(text)).toBe(false);
  });

  test("are made of any key", () => {
    fc.assert(
      fc.property(anyText, (key) => {
        expect(isNamespace(toNamespace(key))).toBe(true);
      }),
    );
  });

  test("stay as they are where they already are one", () => {
    fc.assert(
      fc.property(namespace, (key) => {
        expect(toNamespace(key)).toBe(key);
      }),
    );
  });

  test.each([
    ["my server", /^my_server-[0-9a-f]{8}$/],
    ["a.b/c", /^a_b_c-[0-9a-f]{8}$/],
    ["__a__", /^a-[0-9a-f]{8}$/],
    ["7zip", /^s7zip-[0-9a-f]{8}$/],
    ["", /^s-[0-9a-f]{8}$/],
  ])("of %j is readable", (key, form) => {
    expect(toNamespace(key)).toMatch(form);
  });

  test("of keys that look alike differ", () => {
    const keys = ["my server", "my.server", "my/server", "my__server", "my_server", "my_server_"];
    expect(new Set(keys.map(toNamespace)).size).toBe(keys.length);
  });

  test("never change between versions: configurations and logs name them", () => {
    expect(toNamespace("my server")).toBe("my_server-809ef0ee");
  });
});

describe("canonical names", () => {
  test("split where they were joined, whatever the tool is called", () => {
    fc.assert(
      fc.property(namespace, anyText, (owner, tool) => {
        expect(splitName(joinName(owner, tool))).toEqual({ namespace: owner, tool });
      }),
    );
  });

  test.each([
    ["files__read", { namespace: "files", tool: "read" }],
    ["files__read__all", { namespace: "files", tool: "read__all" }],
    ["files___read", { namespace: "files", tool: "_read" }],
    ["files__", { namespace: "files", tool: "" }],
    ["read", undefined],
    ["__read", undefined],
    ["", undefined],
  ])("%j splits into %j", (name, parts) => {
    expect(splitName(name)).toEqual(parts);
  });
});

describe("exposed names", () => {
  const safe = /^[a-zA-Z0-9_-]{1,64}$/;

  test("are always what clients take", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string({ minLength: 60, maxLength: 200 })), (name) => {
        expect(exposedName(name)).toMatch(safe);
      }),
    );
  });

  test("are the canonical ones where clients take those", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/), (name) => {
        expect(exposedName(name)).toBe(name);
      }),
    );
  });

  test.each([
    ["files__read.all", /^files__read_all_[0-9a-f]{8}$/],
    [`files__${"a".repeat(64)}`, /^files__a{48}_[0-9a-f]{8}$/],
    ["files__größe", /^files__gr__e_[0-9a-f]{8}$/],
  ])("of %j keep what can be kept", (name, form) => {
    expect(exposedName(name)).toMatch(form);
  });

  test("of names that look alike differ", () => {
    const long = "a".repeat(100);
    const names = ["a.b", "a/b", "a b", `${long}1`, `${long}2`];
    expect(new Set(names.map(exposedName)).size).toBe(names.length);
  });

  test("never change between versions: agents remember them", () => {
    expect(exposedName("files__read.all")).toBe("files__read_all_eaf0a823");
  });
});
