import { isObject, type JsonObject } from "../../../core/json.ts";
import type { CompletionRequest } from "../../../core/provider.ts";
import { requireCapability } from "../capabilities.ts";
import { invalidParams, type Method } from "../method.ts";
import { performRaw } from "../performRaw.ts";

/** Specification 2026-07-28, server/utilities/completion. */
export const completionComplete: Method = async (server, request) => {
  await requireCapability(server, request, "completions");
  const { ref, argument, context } = request.params;
  const name = nameOf(ref);
  if (!isObject(argument) || typeof argument["name"] !== "string" || typeof argument["value"] !== "string")
    throw invalidParams("completion/complete: params.argument must have a name and a value, both strings");
  if (context !== undefined && !isObject(context))
    throw invalidParams("completion/complete: params.context must be an object");
  const asked: JsonObject = { ref, argument, ...(context && { context }) };
  return performRaw(server, request, { kind: "completion/complete", name, arguments: asked });
};

function nameOf(ref: unknown): string {
  const { type, name, uri } = isObject(ref) ? ref : {};
  const kind = type as CompletionRequest["ref"]["type"];
  if (kind === "ref/prompt" && typeof name === "string") return name;
  if (kind === "ref/resource" && typeof uri === "string") return uri;
  throw invalidParams(
    'completion/complete: params.ref must be {"type": "ref/prompt", "name": ...} or {"type": "ref/resource", "uri": ...}',
  );
}
