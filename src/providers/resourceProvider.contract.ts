import { describe, expect, onTestFinished, test } from "vitest";
import { completionRequest, FakeLibrary } from "../../test/support/library.ts";
import { deferred } from "../../test/support/providers.ts";
import { Cancellation } from "../core/cancellation.ts";
import { ToolContext } from "../core/context.ts";
import { ToolError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { ToolProvider } from "../core/provider.ts";
import { infoOf } from "./info.ts";

/** Serves by the provider under test what a local one has. */
export type MakeResourceProvider = (local: ToolProvider) => ToolProvider | Promise<ToolProvider>;

const readme: JsonObject = {
  uri: "file:///read%20me.md",
  name: "readme",
  title: "Read me",
  mimeType: "text/markdown",
  size: 7,
  annotations: { audience: ["user"], priority: 1 },
  _meta: { "example.com/k": 1 },
};
const uri = String(readme["uri"]);
const logs: JsonObject = { uriTemplate: "logs://{day}/{+path}", name: "logs", description: "By day." };

/** What every provider of resources does. URIs are the same everywhere. */
export function resourceProviderContract(name: string, makeProvider: MakeResourceProvider): void {
  const ctx = new ToolContext();

  async function setUp() {
    const local = new FakeLibrary("far", {
      resources: [{ uri: "db://t", name: "t" }, readme],
      templates: [{ uriTemplate: "db://t{?q}", name: "q" }, logs],
      there: ["logs://monday/a/b", "file:///linked"],
    });
    const provider = await makeProvider(local);
    onTestFinished(async () => provider.close?.());
    return { local, provider, resources: provider.resources! };
  }

  describe(`${name} keeps the contract of a provider of resources`, () => {
    test("it lists its resources in their order with all that is said of them, twice the same", async () => {
      const { resources } = await setUp();
      expect(await resources.listResources()).toEqual([{ uri: "db://t", name: "t" }, readme]);
      expect(await resources.listResources()).toEqual([{ uri: "db://t", name: "t" }, readme]);
    });

    test("it lists its templates in their order with all that is said of them", async () => {
      const { resources } = await setUp();
      expect(await resources.listResourceTemplates()).toEqual([
        { uriTemplate: "db://t{?q}", name: "q" },
        logs,
      ]);
    });

    test.each([
      ["a listed resource", uri],
      ["what a template leads to", "logs://monday/a/b"],
      ["what is on no list", "file:///linked"],
    ])("%s is read", async (_what, there) => {
      const { resources, local } = await setUp();
      expect(await resources.readResource(there, ctx)).toMatchObject({
        contents: [{ uri: there, text: "far has it" }],
      });
      expect(local.asked.filter((one) => one.startsWith("read"))).toEqual([`read ${there}`]);
    });

    test.each(["file:///nope", "FILE:///read%20me.md", "file:///read me.md", "logs://monday/nope"])(
      "%s is not there: NotFound",
      async (wrong) => {
        const { resources } = await setUp();
        const thrown = await resources.readResource(wrong, ctx).catch((error: unknown) => error);
        expect(thrown).toBeInstanceOf(ToolError);
        expect(thrown).toMatchObject({ code: "NotFound" });
      },
    );

    test("an argument of a template is completed", async () => {
      const { provider } = await setUp();
      expect(await provider.complete!(completionRequest("logs://{day}/{+path}"), ctx)).toMatchObject({
        completion: { values: ["far", "logs://{day}/{+path}", "a", "x", '{"arguments":{"b":"y"}}'] },
      });
    });

    test("who subscribes hears of that resource's changes, until it is cancelled", async () => {
      const { local, resources } = await setUp();
      const [first, second] = [deferred<JsonObject>(), deferred<JsonObject>()];
      const cancellation = new Cancellation();
      const heard: JsonObject[] = [];
      const updated = (params: JsonObject): void => void heard.push(params);
      await resources.subscribe!(uri, { updated, cancellation }, ctx);
      await resources.subscribe!(uri, { updated: first.resolve, cancellation: new Cancellation() }, ctx);
      local.update("db://t");
      local.update(uri);
      expect(await first.promise).toMatchObject({ uri });
      expect(heard).toMatchObject([{ uri }]);
      cancellation.cancel("enough");
      await resources.subscribe!(uri, { updated: second.resolve, cancellation: new Cancellation() }, ctx);
      local.update(uri);
      await second.promise;
      expect(heard).toHaveLength(1);
    });

    test("it says that it has resources", async () => {
      const { provider } = await setUp();
      expect((await infoOf(provider)).capabilities).toMatchObject({
        resources: { subscribe: true },
        completions: {},
      });
    });
  });
}
