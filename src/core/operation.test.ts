import { expect, test } from "vitest";
import { isQuestion, type OperationKind } from "./operation.ts";

// Written out: a kind that is added has to be judged here.
const kinds: Record<OperationKind, boolean> = {
  "tools/call": false,
  "resources/read": false,
  "resources/subscribe": false,
  "prompts/get": false,
  "completion/complete": false,
  "tasks/get": false,
  "tasks/update": false,
  "tasks/cancel": false,
  "elicitation/create": true,
  "sampling/createMessage": true,
  "roots/list": true,
};

test.each(Object.entries(kinds) as [OperationKind, boolean][])("%s is a question: %s", (kind, expected) => {
  expect(isQuestion({ kind, name: "x", arguments: {} })).toBe(expected);
});
