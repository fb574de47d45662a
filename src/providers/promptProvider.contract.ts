import { describe, expect, onTestFinished, test } from "vitest";
import { completionRequest, FakeLibrary } from "../../test/support/library.ts";
import { ToolContext } from "../core/context.ts";
import { ToolError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { ToolProvider } from "../core/provider.ts";
import { infoOf } from "./info.ts";

/** Serves by the provider under test what a local one has. */
export type MakePromptProvider = (local: ToolProvider) => ToolProvider | Promise<ToolProvider>;

const review: JsonObject = {
  name: "review",
  title: "Review",
  description: "Reviews a file.",
  arguments: [{ name: "path", description: "Which one", required: true }],
  _meta: { "example.com/k": 1 },
  icons: [{ src: "https://example.com/i.png" }],
};

/** What every provider of prompts does. `prefix` stands before their names. */
export function promptProviderContract(name: string, makeProvider: MakePromptProvider, prefix = ""): void {
  const ctx = new ToolContext();

  async function setUp() {
    const local = new FakeLibrary("far", { prompts: ["plain", review] });
    const provider = await makeProvider(local);
    onTestFinished(async () => provider.close?.());
    return { local, provider, prompts: provider.prompts! };
  }

  describe(`${name} keeps the contract of a provider of prompts`, () => {
    test("it lists its prompts in their order with all that is said of them, twice the same", async () => {
      const { prompts } = await setUp();
      const listed = await prompts.listPrompts();
      expect(listed).toEqual([{ name: `${prefix}plain` }, { ...review, name: `${prefix}review` }]);
      expect(await prompts.listPrompts()).toEqual(listed);
    });

    test("a prompt is made of its arguments", async () => {
      const { prompts } = await setUp();
      expect(await prompts.getPrompt(`${prefix}review`, { path: "é 🙂" }, ctx)).toMatchObject({
        description: "far:review",
        messages: [{ path: "é 🙂" }],
      });
    });

    test.each(["nope", "revie", "review2", "Review", "toString", "__proto__", ""])(
      "%j is not there: NotFound",
      async (wrong) => {
        const { prompts } = await setUp();
        const thrown = await prompts.getPrompt(prefix + wrong, {}, ctx).catch((error: unknown) => error);
        expect(thrown).toBeInstanceOf(ToolError);
        expect(thrown).toMatchObject({ code: "NotFound" });
      },
    );

    test("an argument is completed by who has the prompt, under its own name", async () => {
      const { provider } = await setUp();
      expect(await provider.complete!(completionRequest(`${prefix}review`), ctx)).toMatchObject({
        completion: {
          values: ["far", "review", "a", "x", '{"arguments":{"b":"y"}}'],
          total: 5,
          hasMore: false,
        },
      });
    });

    test("it says that it has prompts", async () => {
      const { provider } = await setUp();
      expect((await infoOf(provider)).capabilities).toMatchObject({ prompts: {}, completions: {} });
    });
  });
}
