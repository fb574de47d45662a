/** A JSON object whose members are not known. */
export type JsonObject = { [key: string]: unknown };

/** MCP's `_meta`: open by design, keys are namespaced (specification 2026-07-28, basic, `_meta`). */
export type Meta = JsonObject;

/** True for a JSON object: not null, not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
