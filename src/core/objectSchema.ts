import { isObject, type JsonObject } from "./json.ts";

// Official clients read these keywords of a tool's schemas, and refuse a whole list in which one of them is wrong.

/** What is wrong with the root of a JSON Schema for an object, as a clause that follows "inputSchema"; else undefined. */
export function faultOf({ required, properties }: JsonObject): string | undefined {
  if (required !== undefined && !isStrings(required)) return 'has a "required" that is no array of names';
  if (properties === undefined) return undefined;
  if (!isObject(properties)) return 'has "properties" that are no object';
  const wrong = Object.keys(properties).find((name) => !isSchema(properties[name]));
  return wrong === undefined ? undefined : `has a property "${wrong.slice(0, 200)}" that is no schema`;
}

/** The same properties, with the schemas `true` and `false` written as objects. Without any, the same object. */
export function withoutBooleans(properties: JsonObject): JsonObject {
  if (!Object.values(properties).some((schema) => typeof schema === "boolean")) return properties;
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, asObject(schema)]));
}

export function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isSchema(value: unknown): boolean {
  return isObject(value) || typeof value === "boolean";
}

function asObject(schema: unknown): unknown {
  if (schema === true) return {};
  return schema === false ? { not: {} } : schema;
}
