import type { InputRequest } from "../../core/context.ts";
import { ToolError } from "../../core/errors.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { InputRequired } from "../../core/result.ts";

/** What a question needs of MCP's `ClientCapabilities` and `has` does not hold; undefined where nothing is missing. */
export function missingFor({ method, params }: InputRequest, has: JsonObject): JsonObject | undefined {
  switch (method) {
    case "roots/list":
      return has["roots"] ? undefined : { roots: {} };
    case "sampling/createMessage":
      return missingForSampling(params, has["sampling"]);
    case "elicitation/create":
      return missingForElicitation(params["mode"] === "url" ? "url" : "form", has["elicitation"]);
  }
}

/** `MissingClientCapability` for a question that this client cannot be asked. */
export function unaskable(request: InputRequest, has: JsonObject): ToolError | undefined {
  const requiredCapabilities = missingFor(request, has);
  if (!requiredCapabilities) return undefined;
  const what = Object.keys(requiredCapabilities).join(", ");
  return new ToolError(
    "MissingClientCapability",
    `This needs a client that declares the capability ${what}, for ${request.method}. Use one that does.`,
    { data: { requiredCapabilities } },
  );
}

/** As `unaskable`, of several: the first reason. */
export function firstUnaskable(
  { inputRequests = {} }: InputRequired,
  has: JsonObject,
): ToolError | undefined {
  for (const request of Object.values(inputRequests)) {
    const error = unaskable(request, has);
    if (error) return error;
  }
  return undefined;
}

function missingForSampling({ tools, toolChoice }: JsonObject, sampling: unknown): JsonObject | undefined {
  const wantsTools = tools !== undefined || toolChoice !== undefined;
  if (isObject(sampling) && (!wantsTools || sampling["tools"])) return undefined;
  return { sampling: wantsTools ? { tools: {} } : {} };
}

/** An empty object is form mode alone (specification 2026-07-28, client/elicitation, Capabilities). */
function missingForElicitation(mode: "form" | "url", elicitation: unknown): JsonObject | undefined {
  if (isObject(elicitation)) {
    if (elicitation[mode]) return undefined;
    if (mode === "form" && !elicitation["url"]) return undefined;
  }
  return { elicitation: { [mode]: {} } };
}
