import { isObject } from "../../../core/json.ts";
import { requireCapability } from "../capabilities.ts";
import { invalidParams, type Method } from "../method.ts";
import { performRaw } from "../performRaw.ts";

/** Specification 2026-07-28, server/prompts, Getting a Prompt. */
export const promptsGet: Method = async (server, request) => {
  const { name, arguments: args = {} } = request.params;
  await requireCapability(server, request, "prompts");
  if (typeof name !== "string") throw invalidParams("prompts/get: params.name must be a string");
  if (!isObject(args) || !Object.values(args).every((value) => typeof value === "string"))
    throw invalidParams("prompts/get: params.arguments must be an object of strings");
  return performRaw(server, request, { kind: "prompts/get", name, arguments: args });
};
