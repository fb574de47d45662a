import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ContentBlock } from "../core/content.ts";
import { ToolError } from "../core/errors.ts";
import { ToolContext } from "../core/context.ts";
import { ToolResult, type OperationResult } from "../core/result.ts";
import { question, resolvedOperation, toolResult } from "../../test/support/operation.ts";
import { resultSize, type ResultSizeOptions } from "./resultSize.ts";

const bound = async (result: ToolResult, options?: ResultSizeOptions): Promise<ToolResult> =>
  toolResult(
    await resultSize(options).call!(resolvedOperation(), new ToolContext(), () => Promise.resolve(result)),
  );

const image = (bytes: number): ContentBlock => ({
  type: "image",
  data: "A".repeat(bytes),
  mimeType: "image/png",
});

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

test("a result within the limits passes as it is", async () => {
  const result: ToolResult = {
    content: [{ type: "text", text: "a" }, image(100)],
    structuredContent: { a: 1 },
  };
  expect(await bound(result)).toBe(result);
  expect(await bound(result, { maxBytes: 1_000, textBytes: 999 })).toBe(result);
});

test("what cannot be sent fails the call here, where it is the tool's failure", async () => {
  const result: ToolResult = { content: [], structuredContent: { big: 1n } };
  await expect(bound(result)).rejects.toThrow(TypeError);
});

describe("over maxBytes", () => {
  test("bytes count, not characters", async () => {
    const euros = ToolResult.success("€".repeat(400));
    expect(await bound(euros, { maxBytes: 1_210 })).toBe(euros);
    await expect(bound(euros, { maxBytes: 1_199 })).rejects.toMatchObject({ code: "ResultTooLarge" });
  });

  test.each<[string, ToolResult]>([
    ["text", ToolResult.success("a".repeat(2_000))],
    ["an image", { content: [image(2_000)] }],
    ["a blob", { content: [{ type: "resource", resource: { uri: "file:///a", blob: "A".repeat(2_000) } }] }],
    ["structuredContent", { content: [], structuredContent: { a: "a".repeat(2_000) } }],
    ["all together", { content: [image(500)], structuredContent: "a".repeat(600) }],
    ["unknown members", { content: [], extra: { more: "a".repeat(2_000) } }],
  ])("%s becomes an error that says the size and the limit", async (_, result) => {
    await expect(bound(result, { maxBytes: 1_000 })).rejects.toThrow(
      /^The answer of files__read is \d{4} bytes, which is more than the limit of 1000 bytes\. Ask for less/,
    );
  });

  test("16 MiB is the default", async () => {
    const limit = 16 * 1024 * 1024;
    expect((await bound(ToolResult.success("a".repeat(limit - 10)))).isError).toBeUndefined();
    await expect(bound(ToolResult.success("a".repeat(limit + 1)))).rejects.toThrow(ToolError);
  });

  test("what stays inside does not count", async () => {
    const result = ToolResult.withMetadata(ToolResult.success("a"), { trace: "a".repeat(2_000) });
    expect(await bound(result, { maxBytes: 1_000 })).toBe(result);
  });
});

describe("what is no tool's answer", () => {
  const answer = (result: OperationResult, options: ResultSizeOptions) =>
    resultSize(options).call!(question(), new ToolContext(), async () => result);
  const large: OperationResult[] = [
    { type: "raw", value: { contents: [{ uri: "x://a", text: "a".repeat(900) }] } },
    { type: "input_required", requestState: "a".repeat(900) },
  ];

  test.each(large)("is never cut: %j", async (result) => {
    expect(await answer(result, { maxBytes: 1_000, textBytes: 300 })).toBe(result);
  });

  test.each(large)("is bounded by maxBytes: %j", async (result) => {
    await expect(answer(result, { maxBytes: 900 })).rejects.toThrow(
      /^The answer of elicitation\/create is 9\d\d bytes, which is more than the limit of 900 bytes/,
    );
  });
});

describe("an error", () => {
  const failing = (error: Error, maxBytes: number) =>
    resultSize({ maxBytes }).call!(resolvedOperation(), new ToolContext(), () => Promise.reject(error));

  test.each(["UpstreamError", "ClientRefused"] as const)(
    "of others is bounded by maxBytes: %s",
    async (code) => {
      const data = { error: { code: -32000, message: "b".repeat(300), data: "c".repeat(300) } };
      const error = new ToolError(code, "a".repeat(300), { data });
      await expect(failing(error, 2_000)).rejects.toBe(error);
      await expect(failing(error, 900)).rejects.toMatchObject({
        code: "ResultTooLarge",
        message: expect.stringMatching(
          /^The error of \S+ is 9\d\d bytes, which is more than the limit of 900 bytes/,
        ),
      });
    },
  );

  test("of our own passes as it is", async () => {
    for (const error of [new ToolError("ExecutionFailed", "a".repeat(900)), new Error("a".repeat(900))])
      await expect(failing(error, 300)).rejects.toBe(error);
  });
});

describe("over textBytes", () => {
  test("text keeps two thirds of head and one third of tail, and says what is missing", async () => {
    const text = `${"h".repeat(1_000)}${"t".repeat(1_000)}`;
    const bounded = await bound(ToolResult.success(text), { textBytes: 639 });
    expect(ToolResult.text(bounded)).toBe(
      `${"h".repeat(400)}\n[... 1400 bytes are missing here ...]\n${"t".repeat(200)}`,
    );
  });

  test("several blocks are cut as one text; other blocks and members stay", async () => {
    const texts = ["a", "b", "c", "d"].map((letter): ContentBlock => ({
      type: "text",
      text: letter.repeat(300),
    }));
    const link: ContentBlock = { type: "resource_link", uri: "file:///a", name: "a" };
    const result: ToolResult = {
      content: [...texts.slice(0, 2), link, ...texts.slice(2)],
      isError: true,
      _meta: { kept: 1 },
    };
    const bounded = await bound(result, { textBytes: 639 });
    expect(bounded).toEqual({
      content: [
        { type: "text", text: "a".repeat(300) },
        { type: "text", text: `${"b".repeat(100)}\n[... 600 bytes are missing here ...]\n` },
        link,
        { type: "text", text: "d".repeat(200) },
      ],
      isError: true,
      _meta: { kept: 1 },
    });
  });

  test.each<[string, ToolResult]>([
    ["structuredContent", ToolResult.structured({ a: "a".repeat(2_000) })],
    ["an image", { content: [image(2_000)] }],
  ])("%s is not cut but becomes an error that says so", async (_, result) => {
    await expect(bound(result, { textBytes: 1_000 })).rejects.toThrow(
      /^What is not text in the answer of files__read is 20\d\d bytes, which is more than the limit of 1000 bytes/,
    );
  });

  test("a limit too small to say what is missing is refused", () => {
    expect(() => resultSize({ textBytes: 255 })).toThrow("textBytes is 255; it must be at least 256");
    expect(() => resultSize({ textBytes: 256 })).not.toThrow();
  });

  test("whatever the text, the cut is within the limit, keeps whole characters and both ends, and counts right", async () => {
    const texts = fc.array(fc.string({ unit: "binary", maxLength: 400, size: "max" }), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 256, max: 600 }), async (parts, textBytes) => {
        const whole = parts.join("");
        fc.pre(bytesOf(whole) > textBytes);
        const content = parts.map((text): ContentBlock => ({ type: "text", text }));
        const bounded = await bound({ content }, { textBytes });
        const cut = bounded.content.map((block) => (block.type === "text" ? block.text : "")).join("");
        expect(bytesOf(cut)).toBeLessThanOrEqual(textBytes);
        const line = /\n\[\.\.\. (\d+) bytes are missing here \.\.\.\]\n/.exec(cut)!;
        const [head, tail] = [cut.slice(0, line.index), cut.slice(line.index + line[0].length)];
        expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
        expect(cut).not.toMatch(/\p{Surrogate}/u);
        expect(bytesOf(head) + Number(line[1]) + bytesOf(tail)).toBe(bytesOf(whole));
        // No more is given up than a character at each cut, and the digits of a shorter number.
        expect(bytesOf(cut)).toBeGreaterThan(textBytes - 12);
      }),
    );
  });
});
