import type { ErrorObject } from "ajv";
import type { Issue } from "../core/effects.ts";

/** Nobody reads more, and a list that an attacker makes long costs memory. */
export const maxIssues = 10;
const maxListed = 500;

/** ajv's errors in plain words, each once, at most `maxIssues`. ajv must run with `verbose`. */
export function toIssues(errors: readonly ErrorObject[] | null | undefined): Issue[] {
  const issues = new Map<string, Issue>();
  for (const error of errors ?? []) {
    const issue = { path: error.instancePath, message: messageOf(error) };
    issues.set(`${issue.path} ${issue.message}`, issue);
    if (issues.size === maxIssues) break;
  }
  return [...issues.values()];
}

function messageOf(error: ErrorObject): string {
  const message = expectation(error);
  return error.propertyName === undefined ? message : `the property name '${error.propertyName}' ${message}`;
}

function expectation({ keyword, params, message, data }: ErrorObject): string {
  switch (keyword) {
    case "required":
      return `must have required property '${params["missingProperty"]}'`;
    case "type":
      return `must be ${[params["type"]].flat().join(" or ")}, got ${typeName(data)}`;
    case "enum":
      return `must be one of ${listed(params["allowedValues"])}`;
    case "const":
      return `must be ${listed([params["allowedValue"]])}`;
    case "additionalProperties":
      return `must not have the property '${params["additionalProperty"]}'`;
    case "unevaluatedProperties":
      return `must not have the property '${params["unevaluatedProperty"]}'`;
    case "false schema":
      return "must not be there";
    default:
      return message ?? `breaks "${keyword}"`;
  }
}

function listed(values: readonly unknown[]): string {
  const text = values.map((value) => JSON.stringify(value)).join(", ");
  return text.length <= maxListed ? text : `${text.slice(0, maxListed)}...`;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
