import type { Ajv } from "ajv";
import { isObject } from "../core/json.ts";

/**
 * Replaces ajv's `uniqueItems`, which compares each item with each other: an array of 20,000 objects took nine
 * seconds, and whoever calls chooses how many there are. This one looks at each item once.
 */
export function useFastUnique(ajv: Ajv): void {
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    error: { message: "must not have duplicate items" },
    validate: (wanted: boolean, items: unknown[]) => !wanted || areUnique(items),
  });
}

/** Whether no two items are equal as JSON Schema has it: members in any order, numbers by value. */
function areUnique(items: readonly unknown[]): boolean {
  return new Set(items.map((item) => JSON.stringify(item, sorted))).size === items.length;
}

function sorted(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
