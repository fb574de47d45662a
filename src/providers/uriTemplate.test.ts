import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { firstMatching, matchesTemplate } from "./uriTemplate.ts";

describe("a URI template", () => {
  test.each([
    ["file:///a.txt", "file:///a.txt"],
    ["", ""],
    ["file:///{name}", "file:///a.txt"],
    ["file:///{name}", "file:///%C3%A9"],
    ["file:///{name}", "file:///🙂"],
    ["file:///{dir}/{name}.txt", "file:///a/b.txt.txt"],
    ["{a}{b}", "xy"],
    ["git://{+path}", "git://a/b/c?d#e"],
    ["git://{+path}/HEAD", "git://a/HEAD/b/HEAD"],
    ["db://t{?q,page}", "db://t?q=a/b&page=2"],
    ["db://t{?q}", "db://t"],
    ["db://t?a=1{&q}", "db://t?a=1&q=2"],
    ["x://a{#part}", "x://a#b/c"],
    ["x://a{/path*}", "x://a/b/c"],
    ["x://a{/path*}", "x://a"],
    ["x://a{.ext}", "x://a.txt"],
    ["x://a{;v}", "x://a;v=1"],
    ["x://a{.ext}{?q}{#f}", "x://a"],
    ["x://a{.ext}{?q}{#f}", "x://a#f"],
    ["x://{}", "x://a"],
    ["x://{broken", "x://{broken"],
    ["x://broken}{a}", "x://broken}1"],
  ])("%j fits %j", (template, uri) => {
    expect(matchesTemplate(template, uri)).toBe(true);
  });

  test.each([
    ["file:///a.txt", "file:///a.tx"],
    ["file:///a.txt", "file:///a.txtt"],
    ["file:///a.txt", "file:///a-txt"],
    ["file:///{name}", "file:///"],
    ["file:///{name}", "file:///a/b"],
    ["file:///{name}", "FILE:///a"],
    ["file:///{dir}/{name}.txt", "file:///a/.txt"],
    ["{a}{b}", "x"],
    ["git://{+path}", "git://"],
    ["db://t{?q}", "db://tables"],
    ["db://t{?q}", "db://t/x"],
    ["x://a{/path}", "x://ab"],
    ["x://a{.ext}", "x://a.b/c"],
    ["x://a{;v}", "x://a;v=/"],
    ["x://{a}", "x://{a}/"],
    ["", "x"],
  ])("%j does not fit %j", (template, uri) => {
    expect(matchesTemplate(template, uri)).toBe(false);
  });

  test("longer than anybody writes matches nothing, and no longer URI", () => {
    const long = "x".repeat(4096);
    expect(matchesTemplate(long, long)).toBe(true);
    expect(matchesTemplate(`${long}x`, `${long}x`)).toBe(false);
    expect(matchesTemplate("{+x}", long)).toBe(true);
    expect(matchesTemplate("{+x}", `${long}x`)).toBe(false);
  });

  test.each(["{a}", "{+a}", "{?a}", "x{a}", "{+a}{b}", "{/a}{.b}{+c}"])(
    "of a thousand %s is decided, against thousands of characters",
    (expression) => {
      const template = expression.repeat(1_000).slice(0, 4_000 - (4_000 % expression.length));
      expect(matchesTemplate(template, `${"x".repeat(4_000)}/!`)).toBe(template.includes("+"));
    },
  );
});

describe("whatever the strings", () => {
  const literal = fc.stringMatching(/^[a-z:/.?&#;=é🙂-]{0,4}$/u);
  const value = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 5 })
    .map((text) => encodeURIComponent(text));
  const parts = fc.array(
    fc.oneof(
      literal.map((text) => ({ template: text, expanded: text })),
      value.map((text) => ({ template: "{v}", expanded: text })),
      fc.tuple(value, value).map(([a, b]) => ({ template: "{+v}", expanded: `${a}/${b}` })),
      fc.tuple(fc.constantFrom("#", ".", "/", ";", "?", "&"), fc.option(value)).map(([operator, text]) => ({
        template: `{${operator}v}`,
        expanded: text === null ? "" : operator + text,
      })),
    ),
    { maxLength: 6 },
  );

  test("what a template expands to fits it", () => {
    fc.assert(
      fc.property(parts, (all) => {
        const template = all.map((part) => part.template).join("");
        const uri = all.map((part) => part.expanded).join("");
        expect(matchesTemplate(template, uri)).toBe(true);
      }),
    );
  });

  /** The same said by a regular expression, which some templates would make slow. */
  const patternOf = (template: string): RegExp => {
    const exactly = (char: string): string => `\\u{${char.codePointAt(0)!.toString(16)}}`;
    const source = template.replace(/\{([+#./;?&]?)[^{}]*\}|./gsu, (part, operator: string | undefined) => {
      if (operator === undefined) return exactly(part);
      if (operator === "") return "[^/]+";
      if (operator === "+") return ".+";
      return `(?:${exactly(operator)}${".;".includes(operator) ? "[^/]" : "."}*)?`;
    });
    return new RegExp(`^${source}$`, "su");
  };

  test("it decides as a regular expression does", () => {
    const text = fc.array(fc.constantFrom("a", "b", "/", "?", "#", ".", ";", "&", "{", "}", "é", "🙂"), {
      maxLength: 7,
    });
    const template = fc.array(
      fc.oneof(
        fc.constantFrom("a", "b", "/", "?", "{", "}"),
        fc.constantFrom("{x}", "{+x}", "{#x}", "{.x}", "{/x}", "{;x}", "{?x}", "{&x}", "{}"),
      ),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(template, text, (template, text) => {
        const [joined, uri] = [template.join(""), text.join("")];
        expect(matchesTemplate(joined, uri)).toBe(patternOf(joined).test(uri));
      }),
      { numRuns: 2_000 },
    );
  });

  const any = fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[{}+#?/a]*$/));

  test("nothing is thrown", () => {
    fc.assert(
      fc.property(any, any, (template, uri) => {
        expect(matchesTemplate(template, uri)).toBeTypeOf("boolean");
      }),
    );
  });

  test("a text without expressions fits itself alone", () => {
    const plain = fc.string({ unit: "binary", maxLength: 8 }).map((text) => text.replaceAll("{", ""));
    fc.assert(
      fc.property(plain, any, (template, uri) => {
        expect(matchesTemplate(template, template)).toBe(true);
        expect(matchesTemplate(template, uri)).toBe(template === uri);
      }),
    );
  });
});

describe("a search through templates", () => {
  const costly = Array.from({ length: 10_000 }, () => ({ name: "{+a}".repeat(1_000) + "!" }));
  const right = { name: "x://{a}" };

  test("finds the first that fits, however many others there are", () => {
    const others = Array.from({ length: 10_000 }, (_, at) => ({ name: `y://collection/${at}/{a}/{b}` }));
    expect(firstMatching([...others, right, { name: "{+all}" }], "x://a")).toBe(right);
    expect(firstMatching(others, "x://a")).toBeUndefined();
  });

  test("ends without one where templates are made to take long", () => {
    expect(firstMatching([right, ...costly], "x://a")).toBe(right);
    expect(firstMatching([...costly, right], "x://a")).toBeUndefined();
  });
});
