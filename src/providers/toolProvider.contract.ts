import { describe, expect, onTestFinished, test } from "vitest";
import { toolResult } from "../../test/support/operation.ts";
import { deferred } from "../../test/support/providers.ts";
import { Cancellation } from "../core/cancellation.ts";
import { ToolContext } from "../core/context.ts";
import { ToolError } from "../core/errors.ts";
import { isNamespace } from "../core/names.ts";
import type { ToolProvider } from "../core/provider.ts";
import { ToolResult, type ToolOutput } from "../core/result.ts";
import { defineTool, type Tool } from "../core/tool.ts";

/** Serves these tools by the provider under test. */
export type MakeProvider = (tools: readonly Tool[]) => ToolProvider | Promise<ToolProvider>;

const resultOf = (output: ToolOutput): ToolResult =>
  typeof output === "string" ? ToolResult.success(output) : toolResult(output);

const empty = { type: "object", properties: {} } as const;

/** `echo` answers its text, `fail` fails, `wait` answers when it is cancelled. */
function contractTools() {
  const started = deferred();
  const stopped = deferred<unknown>();
  const echo = defineTool({
    name: "echo",
    description: "Says it again.",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    annotations: { readOnlyHint: true },
    execute: ({ text }) => text,
  });
  const fail = defineTool({
    name: "fail",
    inputSchema: empty,
    execute: () => {
      throw new ToolError("ExecutionFailed", "the disk is full");
    },
  });
  const wait = defineTool({
    name: "wait",
    inputSchema: empty,
    execute: (_args, { cancellation }) => {
      started.resolve();
      return new Promise<string>((resolve) => {
        cancellation.onCancel((reason) => {
          stopped.resolve(reason);
          resolve("stopped");
        });
      });
    },
  });
  return { tools: [echo, fail, wait], started: started.promise, stopped: stopped.promise };
}

/** What every `ToolProvider` does. `prefix` stands before the names of its tools. */
export function toolProviderContract(name: string, makeProvider: MakeProvider, prefix = ""): void {
  async function setUp() {
    const { tools, ...signs } = contractTools();
    const provider = await makeProvider(tools);
    onTestFinished(async () => provider.close?.());
    const call = async (tool: string, args = {}, ctx = new ToolContext()): Promise<ToolResult> =>
      resultOf(await provider.callTool(prefix + tool, args, ctx));
    return { provider, call, tools, ...signs };
  }

  describe(`${name} keeps the contract of a tool provider`, () => {
    test("it has a namespace", async () => {
      const { provider } = await setUp();
      expect(isNamespace(provider.namespace)).toBe(true);
    });

    test("it lists its tools with all that is said of them", async () => {
      const { provider, tools } = await setUp();
      const listed = await provider.listTools();
      expect(listed.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual(
        tools.map(({ definition }) => ({ ...definition, name: prefix + definition.name })),
      );
    });

    test("it lists the same twice", async () => {
      const { provider } = await setUp();
      const once = JSON.stringify(await provider.listTools());
      expect(JSON.stringify(await provider.listTools())).toBe(once);
    });

    test("a call gets the tool's answer", async () => {
      const { call } = await setUp();
      expect(await call("echo", { text: "héllo 🙂" })).toMatchObject({
        content: [{ type: "text", text: "héllo 🙂" }],
      });
    });

    test("a failing tool is a result, and says why", async () => {
      const { call } = await setUp();
      expect(await call("fail")).toMatchObject({
        isError: true,
        content: [{ type: "text", text: "the disk is full" }],
      });
    });

    test.each(["nope", "ech", "echo2", "Echo", "toString", "__proto__"])(
      "%j is not there: NotFound",
      async (tool) => {
        const { call } = await setUp();
        const thrown = await call(tool).catch((error: unknown) => error);
        expect(thrown).toBeInstanceOf(ToolError);
        expect(thrown).toMatchObject({ code: "NotFound" });
      },
    );

    test("a call that waits delays no other, and hears of its cancellation", async () => {
      const { call, started, stopped } = await setUp();
      const cancellation = new Cancellation();
      const waiting = call("wait", {}, new ToolContext({ cancellation }));
      await started;
      expect(ToolResult.text(await call("echo", { text: "meanwhile" }))).toBe("meanwhile");
      cancellation.cancel("enough");
      // The answer may be the tool's last word or the caller's `Cancelled`: the tool has stopped either way.
      expect(await stopped).toBeDefined();
      await Promise.allSettled([waiting]);
    });

    test("it may be closed twice", async () => {
      const { provider } = await setUp();
      const close = async (): Promise<void> => provider.close?.();
      await expect(Promise.all([close(), close()])).resolves.toEqual([undefined, undefined]);
      await expect(close()).resolves.toBeUndefined();
    });
  });
}
