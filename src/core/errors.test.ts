import { expect, test } from "vitest";
import { ToolError, toolErrorCodes } from "./errors.ts";

test("the table of codes is what doors and guards rely on: changing it is a deliberate act", () => {
  expect(toolErrorCodes).toEqual({
    NotFound: { as: "error" },
    InvalidArguments: { as: "result" },
    InvalidOutput: { as: "result" },
    ExecutionFailed: { as: "result" },
    PermissionDenied: { as: "result" },
    TimedOut: { as: "result" },
    ResultTooLarge: { as: "result" },
    Unavailable: { as: "result" },
    Unsupported: { as: "result" },
    TooManyRequests: { as: "error" },
    MissingClientCapability: { as: "error" },
    ClientRefused: { as: "result" },
    Cancelled: { as: "error" },
    UpstreamError: { as: "error" },
  });
});

test("an error carries its code, its message, its data and its cause", () => {
  const cause = new Error("secret");
  const error = new ToolError("UpstreamError", "files answered with an error", { cause, data: { code: 1 } });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({
    name: "ToolError",
    code: "UpstreamError",
    message: "files answered with an error",
    data: { code: 1 },
    cause,
  });
});

test("without a cause it has none, not an undefined one", () => {
  expect(new ToolError("Cancelled", "gone")).not.toHaveProperty("cause");
});

test("an unknown tool is named", () => {
  expect(ToolError.notFound("files__gone")).toMatchObject({
    code: "NotFound",
    message: "Unknown tool: files__gone",
  });
});
