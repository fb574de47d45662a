import { isObject, type JsonObject } from "../core/json.ts";
import type { ProviderInfo, ToolProvider } from "../core/provider.ts";
import { tasksExtension } from "../core/tasks.ts";

/** What a provider says of itself, else what its members tell. */
export async function infoOf(provider: ToolProvider): Promise<ProviderInfo> {
  const said = await provider.info?.();
  if (said) return said;
  const { resources, prompts } = provider;
  return {
    capabilities: {
      tools: {},
      ...(prompts && { prompts: {} }),
      ...(resources && { resources: resources.subscribe ? { subscribe: true } : {} }),
      ...(provider.complete && { completions: {} }),
      ...(provider.tasks && { extensions: { [tasksExtension]: {} } }),
    },
  };
}

/** Capabilities of several together: each that one of them has. Instructions follow each other under their namespaces. */
export function combine(infos: readonly { namespace: string; info: ProviderInfo }[]): ProviderInfo {
  const capabilities = infos.reduce<JsonObject>((all, { info }) => merge(all, info.capabilities), {});
  const instructions = infos
    .flatMap(({ namespace, info }) =>
      info.instructions === undefined ? [] : [`# ${namespace}\n\n${info.instructions}`],
    )
    .join("\n\n");
  return instructions === "" ? { capabilities } : { capabilities, instructions };
}

function merge(one: JsonObject, other: JsonObject): JsonObject {
  const merged = { ...one };
  for (const [key, value] of Object.entries(other)) {
    const known = merged[key];
    if (isObject(known)) merged[key] = isObject(value) ? merge(known, value) : known;
    else if (known !== true) merged[key] = value;
  }
  return merged;
}
