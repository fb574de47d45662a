import { expect, test } from "vitest";
import type { InputRequest } from "../../core/context.ts";
import type { JsonObject } from "../../core/json.ts";
import { missingFor, unaskable } from "./clientCapabilities.ts";

const form: InputRequest = { method: "elicitation/create", params: {} };
const url: InputRequest = { method: "elicitation/create", params: { mode: "url" } };
const roots: InputRequest = { method: "roots/list", params: {} };
const sampling: InputRequest = { method: "sampling/createMessage", params: {} };
const withTools: InputRequest = { method: "sampling/createMessage", params: { tools: [] } };
const withChoice: InputRequest = { method: "sampling/createMessage", params: { toolChoice: {} } };

test.each<[InputRequest, JsonObject, JsonObject | undefined]>([
  [roots, { roots: {} }, undefined],
  [roots, {}, { roots: {} }],
  [sampling, { sampling: {} }, undefined],
  [sampling, {}, { sampling: {} }],
  [sampling, { sampling: true }, { sampling: {} }],
  [withTools, { sampling: { tools: {} } }, undefined],
  [withTools, { sampling: {} }, { sampling: { tools: {} } }],
  [withChoice, { sampling: {} }, { sampling: { tools: {} } }],
  [form, { elicitation: {} }, undefined],
  [form, { elicitation: { form: {} } }, undefined],
  [form, { elicitation: { form: {}, url: {} } }, undefined],
  [form, { elicitation: { url: {} } }, { elicitation: { form: {} } }],
  [form, {}, { elicitation: { form: {} } }],
  [url, { elicitation: { url: {} } }, undefined],
  [url, { elicitation: {} }, { elicitation: { url: {} } }],
  [url, { elicitation: { form: {} } }, { elicitation: { url: {} } }],
])("%j of a client that declares %j lacks %j", (request, has, missing) => {
  expect(missingFor(request, has)).toEqual(missing);
});

test("the refusal says what the client would have to declare", () => {
  expect(unaskable(withTools, {})).toMatchObject({
    code: "MissingClientCapability",
    message: expect.stringContaining("sampling"),
    data: { requiredCapabilities: { sampling: { tools: {} } } },
  });
  expect(unaskable(withTools, { sampling: { tools: {} } })).toBeUndefined();
});
