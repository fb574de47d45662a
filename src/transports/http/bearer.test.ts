import fc from "fast-check";
import { expect, test } from "vitest";
import { bearer, noAuth } from "./bearer.ts";

const authenticate = bearer(
  new Map([
    ["anna", "token-of-anna"],
    ["ben", "token-of-ben"],
  ]),
);

test("a token names its principal, the scheme in any case", () => {
  expect(authenticate("Bearer token-of-anna")).toEqual({ id: "anna" });
  expect(authenticate("bEaReR  token-of-ben")).toEqual({ id: "ben" });
});

test.each([
  undefined,
  "",
  "Bearer",
  "Bearer ",
  "token-of-anna",
  "Basic token-of-anna",
  "Bearer token-of-ann",
  "Bearer token-of-annaa",
  "Bearer token-of-anna x",
  "Bearer TOKEN-OF-ANNA",
])("%j is nobody", (header) => {
  expect(authenticate(header)).toBeUndefined();
});

test("an empty token is refused at the start", () => {
  expect(() => bearer(new Map([["anna", ""]]))).toThrow(/"anna" is empty/);
});

test("whatever the header, only the token itself gets in", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (any) => {
      const text = any.trim();
      fc.pre(text !== "token-of-anna" && text !== "token-of-ben");
      expect(authenticate(any)).toBeUndefined();
      expect(authenticate(`Bearer ${text}`)).toBeUndefined();
    }),
  );
});

test("without authentication everybody is local", () => {
  expect(noAuth(undefined)).toEqual({ id: "local" });
});
