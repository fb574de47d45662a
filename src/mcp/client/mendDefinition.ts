import { isObject, type JsonObject } from "../../core/json.ts";
import { faultOf, isStrings, withoutBooleans } from "../../core/objectSchema.ts";
import type { ToolDefinition } from "../../core/tool.ts";

/** A definition that every client can read and the members that had to be changed for it, or why there is none. */
export type Mended =
  | { readonly definition: ToolDefinition; readonly mended: readonly string[] }
  | { readonly refused: string };

/** Gives the same value where it is right, a mended copy, or undefined: the member is left out. */
type Mender = (value: unknown) => unknown;

/**
 * Official clients refuse a whole list for one member of the wrong type. So members that MCP names and does not
 * require are left out where they are wrong (specification 2026-07-28, server/tools; `execution` is of 2025-11-25),
 * and an input schema is mended where its meaning is clear; else the tool is refused. What MCP does not name stays,
 * and a definition without faults is returned as the same object.
 *
 * @param tool one element of `tools`; its name has been checked
 */
export function mendDefinition(tool: JsonObject): Mended {
  const { inputSchema } = tool;
  if (!isObject(inputSchema)) return { refused: "its inputSchema is no object" };
  const input = ofArguments(mendMembers(inputSchema, schemaMembers));
  if (input["type"] !== "object") {
    const type = JSON.stringify(input["type"]).slice(0, 200);
    return { refused: `its inputSchema is of type ${type}, but arguments are an object` };
  }
  const fault = faultOf(input);
  if (fault !== undefined) return { refused: `its inputSchema ${fault}` };
  const definition = mendMembers(tool, { ...toolMembers, inputSchema: () => input });
  const mended = Object.keys(tool).filter((key) => definition[key] !== tool[key]);
  return { definition: definition as ToolDefinition, mended };
}

const only =
  (isRight: (value: unknown) => boolean): Mender =>
  (value) =>
    isRight(value) ? value : undefined;

const text = only((value) => typeof value === "string");
const flag = only((value) => typeof value === "boolean");

const annotationMembers = {
  title: text,
  readOnlyHint: flag,
  destructiveHint: flag,
  idempotentHint: flag,
  openWorldHint: flag,
};

const schemaMembers = {
  $schema: text,
  required: (value: unknown) => (isEmpty(value) && !isStrings(value) ? undefined : value),
  properties(value: unknown) {
    if (isObject(value)) return withoutBooleans(withoutEmpty(value));
    return isEmpty(value) ? undefined : value;
  },
};

const toolMembers = {
  title: text,
  description: text,
  annotations: (value: unknown) => (isObject(value) ? mendMembers(value, annotationMembers) : undefined),
  icons: mendIcons,
  execution: only((value) => isObject(value) && isTaskSupport(value["taskSupport"])),
  outputSchema: mendOutputSchema,
  _meta: only(isObject),
};

function mendMembers(whole: JsonObject, menders: Readonly<Record<string, Mender>>): JsonObject {
  let copy: JsonObject | undefined;
  for (const [key, mend] of Object.entries(menders)) {
    if (!Object.hasOwn(whole, key)) continue;
    const right = mend(whole[key]);
    if (right === whole[key]) continue;
    copy ??= { ...whole };
    if (right === undefined) delete copy[key];
    else copy[key] = right;
  }
  return copy ?? whole;
}

function ofArguments(schema: JsonObject): JsonObject {
  const { type } = schema;
  return type === undefined || type === null ? { ...schema, type: "object" } : schema;
}

/** Any schema is legal here, whatever its type. */
function mendOutputSchema(value: unknown): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const schema = mendMembers(value, schemaMembers);
  return faultOf(schema) === undefined ? schema : undefined;
}

function mendIcons(value: unknown): unknown {
  if (!Array.isArray(value)) return undefined;
  const icons: unknown[] = value.filter(isIcon);
  return icons.length === value.length ? value : icons;
}

function isIcon(icon: unknown): boolean {
  if (!isObject(icon)) return false;
  const { src, mimeType = "", sizes = [], theme = "light" } = icon;
  return (
    typeof src === "string" &&
    typeof mimeType === "string" &&
    isStrings(sizes) &&
    (theme === "light" || theme === "dark")
  );
}

function isTaskSupport(value: unknown): boolean {
  return value === undefined || value === "required" || value === "optional" || value === "forbidden";
}

/** How languages without a type for it write "nothing": PHP has `[]` for an empty object, Lua `{}` for an empty array. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === "" || value === false) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** A property whose schema is "nothing" is still a property: one of any value. */
function withoutEmpty(properties: JsonObject): JsonObject {
  const isOdd = (schema: unknown): boolean => !isObject(schema) && schema !== false && isEmpty(schema);
  if (!Object.values(properties).some(isOdd)) return properties;
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, isOdd(schema) ? {} : schema]),
  );
}
