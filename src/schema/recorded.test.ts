import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ToolDefinition } from "../core/tool.ts";
import { createAjvValidator } from "./ajvValidator.ts";

const folder = process.env["TOOLGATE_RECORDED_TOOLS"];

function recordedTools(): ToolDefinition[] {
  const files = readdirSync(folder!).filter((name) => name.endsWith(".json"));
  return files.flatMap((name) => {
    const answer = JSON.parse(readFileSync(join(folder!, name), "utf8")) as { tools: ToolDefinition[] };
    return answer.tools;
  });
}

test("every schema of recorded tools/list answers compiles, trusted and not", (context) => {
  context.skip(!folder, "set TOOLGATE_RECORDED_TOOLS to a folder of files { tools: [...] } to run it");
  const validator = createAjvValidator();
  const refused = recordedTools().flatMap(({ name, inputSchema, outputSchema }) =>
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
