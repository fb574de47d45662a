import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import type { ToolContext } from "./context.ts";
import { isObject, type JsonObject, type Meta } from "./json.ts";
import type { FromJsonSchema } from "./jsonSchemaType.ts";
import { faultOf, withoutBooleans } from "./objectSchema.ts";
import type { ToolOutput } from "./result.ts";

/** MCP's behaviour hints. What is not stated counts as writing, destructive and open-world. */
export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
  [key: string]: unknown;
}

/** What a tool can do to the world. Guards judge these, never a name. What is absent is not needed. */
export interface Capabilities {
  readonly exec?: boolean;
  readonly network?: boolean;
  readonly filesystem?: "read" | "read-write";
}

/** MCP's `Tool` as it goes over the wire (specification 2026-07-28, server/tools). Unknown members pass unchanged. */
export interface ToolDefinition {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations?: ToolAnnotations;
  _meta?: Meta;
  [key: string]: unknown;
}

/** A Standard Schema that can also say what it wants as JSON Schema (zod 4.2 or newer, ArkType 2.1 or newer, ...). */
export type StandardSchemaWithJson<Input = unknown, Output = Input> = StandardSchemaV1<Input, Output> &
  StandardJSONSchemaV1<Input, Output>;

/** A tool ready to be registered; `defineTool` makes it. */
export interface Tool {
  readonly name: string;
  readonly definition: ToolDefinition;
  readonly capabilities: Capabilities;
  /** Milliseconds; replaces the gateway's time-out. */
  readonly timeoutMs?: number;
  /** Where a Standard Schema library checks: its own `validate` runs, and `execute` gets its output. */
  readonly inputStandard?: StandardSchemaV1;
  readonly outputStandard?: StandardSchemaV1;
  /** May throw; `args` have passed the schema. */
  execute(args: JsonObject, ctx: ToolContext): ToolOutput | Promise<ToolOutput>;
}

type Schema = StandardSchemaWithJson | JsonObject;

/** The type of the arguments that `execute` gets for a schema. */
export type ArgumentsOf<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : FromJsonSchema<S>;

export interface ToolSpec<S extends Schema> {
  name: string;
  title?: string;
  description?: string;
  inputSchema: S;
  outputSchema?: Schema;
  annotations?: ToolAnnotations;
  capabilities?: Capabilities;
  timeoutMs?: number;
  icons?: readonly JsonObject[];
  _meta?: Meta;
  execute(args: ArgumentsOf<S>, ctx: ToolContext): ToolOutput | Promise<ToolOutput>;
}

/** Every member of a `ToolSpec`: types alone do not stop JavaScript, nor what is not written in place. */
const specMembers: Readonly<Record<keyof ToolSpec<Schema>, true>> = {
  name: true,
  title: true,
  description: true,
  inputSchema: true,
  outputSchema: true,
  annotations: true,
  capabilities: true,
  timeoutMs: true,
  icons: true,
  _meta: true,
  execute: true,
};

/**
 * Defines a tool once. Schemas come from a Standard Schema library with a JSON Schema side or are raw JSON
 * Schema (write the object in place, or `as const`, and the arguments are typed from it).
 * Throws a `TypeError` that names the tool if a schema cannot be told as a JSON Schema object, if `execute` is no
 * function, or if there are members that `ToolSpec` does not name.
 */
export function defineTool<const S extends Schema>(spec: ToolSpec<S>): Tool {
  if (typeof spec.name !== "string" || spec.name === "")
    throw new TypeError("defineTool: a tool needs a name that is not empty.");
  checkMembers(spec);
  const { execute, inputSchema, outputSchema, capabilities, timeoutMs, ...rest } = spec;
  const definition: ToolDefinition = {
    ...rest,
    inputSchema: toJsonSchema(inputSchema, "input", spec.name),
    ...(outputSchema && { outputSchema: toJsonSchema(outputSchema, "output", spec.name) }),
  } as ToolDefinition;
  return {
    name: spec.name,
    definition,
    capabilities: capabilities ?? {},
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(isStandard(inputSchema) && { inputStandard: inputSchema }),
    ...(outputSchema && isStandard(outputSchema) && { outputStandard: outputSchema }),
    execute: execute as Tool["execute"],
  };
}

function checkMembers(spec: { name: string; execute: unknown }): void {
  const unknown = Object.keys(spec).find((key) => !Object.hasOwn(specMembers, key));
  if (unknown !== undefined)
    throw new TypeError(
      `Tool "${spec.name}": there is no member "${unknown}". Those that there are: ${Object.keys(specMembers).join(", ")}.`,
    );
  if (typeof spec.execute !== "function")
    throw new TypeError(
      `Tool "${spec.name}": execute must be a function of the arguments and the call's context.`,
    );
}

// ArkType's schemas are functions, zod's and valibot's are objects.
function isStandard(schema: unknown): schema is StandardSchemaV1 {
  return (
    (typeof schema === "object" || typeof schema === "function") && schema !== null && "~standard" in schema
  );
}

function toJsonSchema(schema: Schema, side: "input" | "output", tool: string): JsonObject {
  const json = isStandard(schema) ? convert(schema, side, tool) : schema;
  if (!isObject(json))
    throw new TypeError(`Tool "${tool}": ${side}Schema must be a JSON Schema object or a Standard Schema.`);
  if (Object.values(json).some(isStandard))
    throw new TypeError(
      `Tool "${tool}": ${side}Schema looks like a shape of schema fields: wrap it in z.object({...}).`,
    );
  const fault = faultOf(json);
  if (fault !== undefined) throw new TypeError(`Tool "${tool}": ${side}Schema ${fault}.`);
  const plain = readable(json);
  return side === "input" ? ofArguments(plain, tool) : plain;
}

function convert(schema: StandardSchemaV1, side: "input" | "output", tool: string): JsonObject {
  const { vendor, jsonSchema } = (schema as StandardSchemaWithJson)["~standard"];
  if (!jsonSchema)
    throw new TypeError(
      `Tool "${tool}": this version of ${vendor} has no JSON Schema side ("~standard.jsonSchema"). ` +
        `Update it, or give ${side}Schema as raw JSON Schema.`,
    );
  try {
    // The dialect is 2020-12 by default in MCP: the member that says so again only costs tokens.
    const { $schema: _, ...json } = jsonSchema[side]({ target: "draft-2020-12" });
    return json;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(`Tool "${tool}": ${vendor} cannot tell ${side}Schema as JSON Schema: ${reason}`, {
      cause,
    });
  }
}

function readable(json: JsonObject): JsonObject {
  if (!isObject(json["properties"])) return json;
  const properties = withoutBooleans(json["properties"]);
  return properties === json["properties"] ? json : { ...json, properties };
}

/** Arguments are always an object, and clients refuse a whole list in which one schema does not say so. */
function ofArguments(json: JsonObject, tool: string): JsonObject {
  if (json["type"] === "object") return json;
  if (json["type"] === undefined) return { ...json, type: "object" };
  throw new TypeError(
    `Tool "${tool}": inputSchema must be of type "object", since arguments have names; it is ${JSON.stringify(json["type"])}.`,
  );
}
