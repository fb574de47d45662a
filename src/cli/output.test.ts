import fc from "fast-check";
import { expect, test } from "vitest";
import { FakeIo } from "../../test/support/fakeIo.ts";
import { createLog } from "./log.ts";
import { cut, oneLine, printable, styleOf, table } from "./output.ts";

test("colours are for a terminal, and never where NO_COLOR is set", () => {
  const painted = (isTTY: boolean, env: Record<string, string>): boolean =>
    styleOf(new FakeIo({ isTTY }).stdout, env).red("x") !== "x";
  expect(painted(true, {})).toBe(true);
  expect(painted(true, { NO_COLOR: "" })).toBe(true);
  expect(painted(true, { NO_COLOR: "1" })).toBe(false);
  expect(painted(true, { TERM: "dumb" })).toBe(false);
  expect(painted(false, {})).toBe(false);
});

test("text of an upstream cannot command the terminal", () => {
  const evil = "a\u001B[2Jb\u0007\r\nc\td\u009Be";
  expect(oneLine(evil)).toBe("a [2Jb c d e");
  expect(printable(evil)).toBe("a[2Jb\nc\tde");
  fc.assert(fc.property(fc.string({ unit: "binary-ascii" }), (text) => !/\p{Cc}/u.test(oneLine(text))));
});

test("a cut text is as wide as allowed, in whole characters", () => {
  expect(cut("abcdef", 4)).toBe("abc…");
  expect(cut("abcd", 4)).toBe("abcd");
  fc.assert(
    fc.property(fc.string({ unit: "grapheme-composite" }), fc.nat(20), (text, width) => {
      const characters = Array.from(cut(text, width));
      const loneSurrogate = /^[\uD800-\uDFFF]$/;
      return (
        characters.length <= Math.max(width, 1) &&
        !characters.some((character) => loneSurrogate.test(character))
      );
    }),
  );
});

test("a table lines its columns up and cuts the last one", () => {
  const rows = [
    ["NAME", "WHAT"],
    ["a", "short"],
    ["longer", "a description that is too long"],
  ];
  expect(table(rows, 20)).toEqual(["NAME    WHAT", "a       short", "longer  a descripti…"]);
  expect(table(rows, undefined)[2]).toBe("longer  a description that is too long");
});

test("a line of the log says when, how bad, about which upstream, and what", () => {
  const io = new FakeIo();
  const log = createLog(io, "info");
  log("warning", "it is\nslow", { upstream: "fs", ms: 12, reason: "a\u001B[31m" });
  log("debug", "not shown");
  expect(io.stderr.text).toBe("12:03:04 warning fs: it is slow ms=12 reason=a [31m\n");
  log("error", "it broke", { error: new Error("why") });
  expect(io.stderr.text).toMatch(/\n12:03:04 error it broke error=why\n$/);
});

test("TOOLGATE_DEBUG shows every line, and where an error came from", () => {
  const io = new FakeIo({ env: { TOOLGATE_DEBUG: "1" } });
  createLog(io, "warning")("debug", "shown", { error: new Error("why") });
  expect(io.stderr.text).toMatch(/^12:03:04 debug shown error=Error: why +at .*\n$/);
});

test("a log that nobody reads does not grow, and says later what is missing", async () => {
  const io = new FakeIo();
  const log = createLog(io, "info");
  io.stderr.cork();
  for (let n = 0; n < 3_000; n++) log("error", "x".repeat(1_000));
  expect(io.stderr.writableLength).toBeLessThan(1.1 * 1024 * 1024);
  io.stderr.uncork();
  log("info", "read again");
  expect(io.stderr.text).toMatch(
    /\n\d+ lines of the log were left out: nobody read them\.\n\S+ info read again\n$/,
  );
});
