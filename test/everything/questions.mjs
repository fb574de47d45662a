// What a server can ask of its client, in MCP's own form: the same object is an entry of `inputRequests` and a request.

/** A form whose fields are all wanted. `properties` are JSON Schemas by name. */
export const elicit = (message, properties) => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties, required: Object.keys(properties) } },
});

export const sample = (text, maxTokens) => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text } }], maxTokens },
});

export const listRoots = { method: "roots/list", params: {} };

/** The member of `ClientCapabilities` that a client must have declared to be asked. */
export const capabilityFor = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/** Whether `answer` has the form of an answer to `question`. */
export function isAnswerTo(question, answer) {
  if (typeof answer !== "object" || answer === null) return false;
  switch (question.method) {
    case "elicitation/create":
      return answer.action === "accept" ? isFilledIn(question, answer.content) : isRefusal(answer.action);
    case "sampling/createMessage":
      return typeof answer.content === "object" && answer.content !== null;
    default:
      return Array.isArray(answer.roots);
  }
}

function isFilledIn({ params }, content) {
  if (typeof content !== "object" || content === null) return false;
  return params.requestedSchema.required.every((name) => name in content);
}

function isRefusal(action) {
  return action === "decline" || action === "cancel";
}
