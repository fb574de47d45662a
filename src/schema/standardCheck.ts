import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Check, Issue, Validation } from "../core/effects.ts";
import { maxIssues } from "./issues.ts";

/** A check by a Standard Schema library's own `validate` (standardschema.dev), sync or async as it is. */
export function standardCheck(schema: StandardSchemaV1): Check {
  return (value) => {
    try {
      const result = schema["~standard"].validate(value);
      return result instanceof Promise ? result.then(toValidation, thrown) : toValidation(result);
    } catch (error) {
      return thrown(error);
    }
  };
}

function toValidation(result: StandardSchemaV1.Result<unknown>): Validation {
  if (!result.issues) return { ok: true, value: result.value };
  return { ok: false, issues: result.issues.slice(0, maxIssues).map(toIssue) };
}

function toIssue({ message, path = [] }: StandardSchemaV1.Issue): Issue {
  const keys = path.map((segment) => String(typeof segment === "object" ? segment.key : segment));
  return { path: keys.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""), message };
}

function thrown(cause: unknown): Validation {
  return {
    ok: false,
    issues: [{ path: "", message: "cannot be checked: the schema's own code failed" }],
    cause,
  };
}
