import type { Ajv, MacroKeywordDefinition, Options } from "ajv";
import { isObject } from "../core/json.ts";

const maxSteps = 100_000;
const stepKeyword = "x-toolgate-step";
const references = ["$ref", "$dynamicRef", "$recursiveRef"];
const refuseOnMatch = "not if oneOf contains patternProperties unevaluatedProperties unevaluatedItems".split(
  " ",
);

/** ajv runs this in place of every regular expression: no text that an upstream wrote becomes one. */
export const withoutPatterns: Options = {
  code: {
    optimize: false,
    regExp: Object.assign(() => ({ test: () => true }), { code: "() => ({ test: () => true })" }),
  },
};

/**
 * Where only a regular expression could tell, a value passes: its owner checks it anyway. With patterns that
 * always match, these keywords would refuse what they should let through, so they go. `oneOf` is left as the
 * `anyOf` that it implies.
 */
export function loosen(ajv: Ajv): void {
  for (const keyword of refuseOnMatch) ajv.removeKeyword(keyword);
  const oneOf: MacroKeywordDefinition = {
    keyword: "oneOf",
    schemaType: "array",
    macro: (schemas: unknown[]) => ({ anyOf: schemas }),
  };
  ajv.addKeyword(oneOf);
}

/**
 * Schemas that refer to one another can cost time that grows without end while both they and the value are
 * small. This counts the references that one check follows, and ends it when they are too many.
 */
export class StepLimit {
  #left = maxSteps;

  reset(): void {
    this.#left = maxSteps;
  }

  install(ajv: Ajv): void {
    // What stands after a keyword that failed is not run, so the count comes first.
    const first = ajv.RULES.rules.find(({ type }) => type === undefined)!.rules[0]!.keyword;
    const keyword = { keyword: stepKeyword, before: first, schema: false, errors: false } as const;
    ajv.addKeyword({ ...keyword, validate: () => this.#step() });
  }

  #step(): true {
    if (this.#left-- > 0) return true;
    throw new Error(`its schema takes more than ${maxSteps} steps`);
  }
}

/** A copy in which a step is counted beside each reference. */
export function withSteps(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withSteps);
  if (!isObject(schema)) return schema;
  const members = Object.entries(schema).map(([key, value]): [string, unknown] => [
    key,
    key === "const" || key === "enum" ? value : withSteps(value),
  ]);
  const refers = references.some((key) => typeof schema[key] === "string");
  return Object.fromEntries(refers ? [...members, [stepKeyword, true]] : members);
}
