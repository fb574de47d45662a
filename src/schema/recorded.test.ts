import { expect, test } from "vitest";
import { recordings } from "../../test/support/recordings.ts";
import { createAjvValidator } from "./ajvValidator.ts";

test("every schema of recorded tools/list answers compiles, trusted and not", ({ skip }) => {
  const validator = createAjvValidator();
  const tools = recordings(skip).flatMap((one) => one.tools);
  const refused = tools.flatMap(({ name, inputSchema, outputSchema }) =>
    [inputSchema, outputSchema ?? {}].flatMap((schema) =>
      [true, false].flatMap((trusted) => {
        try {
          validator.compile(schema, { trusted });
          return [];
        } catch (error) {
          return [`${name}: ${(error as Error).message}`];
        }
      }),
    ),
  );
  expect(refused).toEqual([]);
});
