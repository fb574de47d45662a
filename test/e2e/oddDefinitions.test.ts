import { describe, expect } from "vitest";
import type { Era } from "../../src/wire/protocol.ts";
import { connectV1Http, connectV2Http, type EraChoice } from "../support/clients.ts";
import { fixture, test } from "../support/fixtures.ts";
import type { RunningToolgate } from "../support/toolgate.ts";
import type { Witness } from "../support/witness.ts";

// One upstream defines its tools oddly. Official clients refuse a whole list for one such tool: none may come through.

interface Listed {
  readonly name: string;
  readonly outputSchema?: object | undefined;
}

/** What the official clients have in common. */
interface Connected {
  listTools(): Promise<{ tools: Listed[] }>;
  callTool(call: { name: string; arguments: object }): Promise<unknown>;
  close(): Promise<void>;
}

const mended = [
  "fine",
  "description_null",
  "description_number",
  "title_null",
  "title_number",
  "annotations_null",
  "annotations_text",
  "hint_text",
  "icons_text",
  "icon_without_src",
  "meta_text",
  "execution_text",
  "execution_unknown",
  "output_null",
  "output_required_text",
  "input_without_type",
  "schema_uri_number",
  "required_null",
  "properties_array",
  "properties_null",
  "property_null",
  "property_true",
];
/** Answers that need not be objects are of 2026-07-28. */
const modernAnswers = ["output_array", "output_untyped"];
const refused = [
  "input_null",
  "input_array",
  "input_types",
  "required_text",
  "required_numbers",
  "property_text",
];

interface OfficialClient {
  readonly title: string;
  readonly era: Era;
  connect(toolgate: RunningToolgate): Promise<Connected>;
}

const v2 = (choice: EraChoice, era: Era): OfficialClient => ({
  title: `client 2 (${choice})`,
  era,
  connect: (toolgate) => connectV2Http(toolgate, { era: choice }) as Promise<Connected>,
});

const clients: readonly OfficialClient[] = [
  { title: "client 1", era: "legacy", connect: (toolgate) => connectV1Http(toolgate) as Promise<Connected> },
  v2("legacy", "legacy"),
  v2("auto", "modern"),
];

const withOdd = (witness: Witness) => ({
  tools: { file: true },
  mcpServers: { odd: fixture(witness, "oddDefinitions.mjs") },
});

describe.concurrent("odd definitions", () => {
  test.for(clients)(
    "$title: lists all that can be mended, and calls it",
    async ({ era, connect }, { start, closing, witness }) => {
      const config = withOdd(witness);
      const toolgate = await start(["serve", "--http", "0"], { config });
      const client = closing(await connect(toolgate));
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      expect(names).toContain("builtin__file_read");
      expect(names.filter((name) => name.startsWith("odd__")).toSorted()).toEqual(
        [...mended, ...modernAnswers].map((name) => `odd__${name}`).toSorted(),
      );
      const answers = tools.filter(({ name, outputSchema }) => name.startsWith("odd__") && outputSchema);
      expect(answers.map(({ name }) => name).toSorted()).toEqual(
        era === "modern" ? modernAnswers.map((name) => `odd__${name}`) : [],
      );
      const results = await Promise.all(
        mended.map((name) => client.callTool({ name: `odd__${name}`, arguments: {} })),
      );
      expect(results).toMatchObject(mended.map((name) => ({ content: [{ type: "text", text: name }] })));
    },
  );

  test("the log names what was mended in one line, and what was left out with the reason", async ({
    start,
    closing,
    witness,
  }) => {
    const config = withOdd(witness);
    const toolgate = await start(["serve", "--http", "0"], { config });
    await closing(await connectV2Http(toolgate)).listTools();
    const lines = toolgate.log().split("\n");
    expect(lines.filter((line) => line.includes("have been mended"))).toEqual([
      expect.stringContaining('"description_null" (description)'),
    ]);
    const left = lines.flatMap(
      (line) => /the tool "(\w+)" is left out: its inputSchema /.exec(line)?.[1] ?? [],
    );
    expect(left).toEqual(refused);
  });
});
