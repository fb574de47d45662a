import { expect, test } from "vitest";
import { isInputRequired, isToolResult, ToolResult, type OperationResult } from "./result.ts";

test("a success is one text block and says nothing of errors", () => {
  expect(ToolResult.success("done")).toStrictEqual({ content: [{ type: "text", text: "done" }] });
});

test("an error is the same with isError", () => {
  expect(ToolResult.error("no")).toStrictEqual({ content: [{ type: "text", text: "no" }], isError: true });
});

test.each([
  [{ a: [1] }, '{"a":[1]}'],
  [null, "null"],
  ["text", '"text"'],
  [undefined, "null"],
])("a structured one (%j) has its JSON as text too, for clients that read only that", (value, text) => {
  expect(ToolResult.structured(value)).toEqual({
    content: [{ type: "text", text }],
    structuredContent: value,
  });
});

test("metadata is added, equal keys are replaced, and the original stays", () => {
  const first = ToolResult.withMetadata(ToolResult.error("no"), { a: 1, b: 1 });
  const second = ToolResult.withMetadata(first, { b: 2 });
  expect(second).toEqual({ ...ToolResult.error("no"), metadata: { a: 1, b: 2 } });
  expect(first.metadata).toEqual({ a: 1, b: 1 });
});

test("the text of a result is that of its text blocks, one a line", () => {
  const result: ToolResult = {
    content: [
      { type: "text", text: "one" },
      { type: "image", data: "AA==", mimeType: "image/png" },
      { type: "text", text: "two" },
    ],
  };
  expect(ToolResult.text(result)).toBe("one\ntwo");
  expect(ToolResult.text({ content: [] })).toBe("");
});

test.each<[string, OperationResult, boolean, boolean]>([
  ["a tool's answer", { content: [] }, true, false],
  ["a result in MCP's own form", { type: "raw", value: { content: [] } }, false, false],
  ["a question", { type: "input_required", requestState: "s" }, false, true],
])("%s is told from the others", (_what, result, isTool, isQuestion) => {
  expect([isToolResult(result), isInputRequired(result)]).toEqual([isTool, isQuestion]);
});

test.each([{}, { type: "object" }, { type: undefined }])("%j asks nothing of the client", (result) => {
  expect(isInputRequired(result)).toBe(false);
});
