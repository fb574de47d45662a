import { Ajv, type Options } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonObject } from "../core/json.ts";

/** The part of ajv's classes that differs by dialect: their vocabulary. */
export type Dialect = new (options: Options) => Ajv;

// Draft-07 only adds to draft-06.
const dialects: Readonly<Record<string, Dialect>> = {
  "draft/2020-12": Ajv2020,
  "draft/2019-09": Ajv2019,
  "draft-07": Ajv,
  "draft-06": Ajv,
};

/**
 * The dialect that a schema declares; 2020-12 where it declares none (specification 2026-07-28, basic, Schema
 * Dialect). Throws an `Error` that names an unknown one and those that are known.
 */
export function dialectOf(schema: JsonObject): Dialect {
  const { $schema } = schema;
  if ($schema === undefined) return Ajv2020;
  const uri = typeof $schema === "string" ? $schema : "";
  const name = /^https?:\/\/json-schema\.org\/(draft[^#]+)\/schema#?$/.exec(uri)?.[1];
  if (name !== undefined && Object.hasOwn(dialects, name)) return dialects[name]!;
  throw new Error(
    `its dialect ($schema) is ${JSON.stringify($schema)}, which is not supported; ` +
      `2020-12, 2019-09, draft-07 and draft-06 are`,
  );
}
