import { isObject, type JsonObject } from "../../core/json.ts";
import type { ItemKind } from "../../core/operation.ts";
import { tasksExtension } from "../../core/tasks.ts";
import type { Era } from "../../wire/protocol.ts";
import { methodNotFound } from "../../wire/peer.ts";
import type { MethodRequest, Server } from "./method.ts";

export type ServerCapability = "tools" | "prompts" | "resources" | "completions";

export const capabilityOf: Readonly<Record<ItemKind, ServerCapability>> = {
  tool: "tools",
  prompt: "prompts",
  resource: "resources",
  resourceTemplate: "resources",
};

/** What the server tells of itself when a client comes: what really works here, and how to use it. */
export interface About {
  readonly capabilities: JsonObject;
  readonly instructions?: string;
}

/** Tools, logs and list changes are the gateway's own; the rest is there where a provider has it. */
export async function aboutOf({ caller, instructions }: Server, era: Era = "modern"): Promise<About> {
  const { capabilities, instructions: combined } = await caller.info();
  const { prompts, resources, completions, extensions } = capabilities;
  const subscribe = isObject(resources) && resources["subscribe"] === true;
  const texts = [instructions, combined].filter((text) => text !== undefined);
  return {
    capabilities: {
      tools: { listChanged: true },
      logging: {},
      ...(prompts !== undefined && { prompts: { listChanged: true } }),
      ...(resources !== undefined && { resources: { listChanged: true, ...(subscribe && { subscribe }) } }),
      ...(completions !== undefined && { completions: {} }),
      ...(isObject(extensions) && { extensions: extensionsOf(extensions, era) }),
    },
    ...(texts.length > 0 && { instructions: texts.join("\n\n") }),
  };
}

/** Of both sides. There are no tasks in sessions (extension `io.modelcontextprotocol/tasks`, Backward Compatibility). */
export function extensionsOf(extensions: JsonObject, era: Era): JsonObject {
  const { [tasksExtension]: _, ...rest } = extensions;
  return era === "modern" ? extensions : rest;
}

/** A method of a capability that nobody here has does not exist. Throws `RpcError`. */
export async function requireCapability(
  { caller }: Server,
  { message, era }: MethodRequest,
  capability: ServerCapability,
): Promise<void> {
  if (capability === "tools") return;
  const { capabilities } = await caller.info();
  if (capabilities[capability] === undefined)
    throw methodNotFound(message.method, era === "modern" ? 404 : 200);
}
