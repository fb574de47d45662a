import { type Ajv, MissingRefError, type Options, type ValidateFunction } from "ajv";
import type { Check, Validator } from "../core/effects.ts";
import type { JsonObject } from "../core/json.ts";
import { dialectOf, type Dialect } from "./dialects.ts";
import { toIssues } from "./issues.ts";
import { standardCheck } from "./standardCheck.ts";
import { survey, type Survey } from "./survey.ts";
import { useFastUnique } from "./unique.ts";
import { loosen, StepLimit, withoutPatterns, withSteps } from "./untrusted.ts";

/** A value with more parts than this has its first issue reported only: an issue a part would cost too much. */
const maxExplained = 10_000;

const common: Options = {
  strict: false,
  logger: false,
  validateFormats: false,
  verbose: true,
  // A property may be named `constructor`.
  ownProperties: true,
  // Inlining copies a schema once a reference, which multiplies.
  inlineRefs: false,
  // Costs more than it saves: most schemas run a few times.
  code: { optimize: false },
};

/**
 * JSON Schema by ajv, in the dialect that each schema declares: 2020-12, 2019-09, draft-07 or draft-06. Formats
 * are not checked. A trusted schema's defaults are filled in, on a copy. Nothing is fetched, and nothing of a
 * compiled schema stays here, so that it can be collected with its check.
 */
export function createAjvValidator(): Validator {
  const judges = new Map<Dialect, Ajv>();

  /** Is the schema itself in order? The instance that knows is shared: it keeps nothing of what it judges. */
  const refuseInvalid = (schema: JsonObject, dialect: Dialect): void => {
    let judge = judges.get(dialect);
    if (!judge) judges.set(dialect, (judge = create(dialect, {})));
    if (judge.validateSchema(schema) === true) return;
    const [issue] = toIssues(judge.errors);
    throw new Error(`it is not a valid schema: ${issue?.path ?? ""} ${issue?.message ?? ""}`);
  };

  return {
    compile(schema, { trusted }) {
      const dialect = dialectOf(schema);
      const facts = survey(schema, trusted);
      // The dialect is known by now. `$async` is ajv's own and would make a check pass by a promise.
      const { $schema: _, $async: __, ...plain } = schema;
      refuseInvalid(plain, dialect);
      return trusted ? trustedCheck(plain, dialect, facts) : untrustedCheck(plain, dialect, facts);
    },
    standard: standardCheck,
  };
}

function create(dialect: Dialect, options: Options): Ajv {
  const ajv = new dialect({ ...common, ...options });
  useFastUnique(ajv);
  return ajv;
}

function trustedCheck(schema: JsonObject, dialect: Dialect, { defaults }: Survey): Check {
  const compile = (allErrors: boolean): ValidateFunction =>
    compiled(create(dialect, { validateSchema: false, useDefaults: true, allErrors }), schema);
  return toCheck(compile, defaults ? (value) => structuredClone(value) : (value) => value);
}

function untrustedCheck(schema: JsonObject, dialect: Dialect, { patterns }: Survey): Check {
  const counted = withSteps(schema) as JsonObject;
  const limit = new StepLimit();
  const compile = (allErrors: boolean): ValidateFunction => {
    const ajv = create(dialect, { ...withoutPatterns, validateSchema: false, allErrors });
    if (patterns) loosen(ajv);
    limit.install(ajv);
    return compiled(ajv, counted);
  };
  return toCheck(compile, (value) => {
    limit.reset();
    return value;
  });
}

/** A fresh instance a schema: ajv keeps what it compiled, by object and by `$id`, for as long as it lives. */
function compiled(ajv: Ajv, schema: JsonObject): ValidateFunction {
  try {
    return ajv.compile(schema);
  } catch (error) {
    if (!(error instanceof MissingRefError)) throw error;
    throw new Error(
      `its $ref to ${JSON.stringify(error.missingRef)} leads nowhere inside it, and nothing outside is fetched`,
      { cause: error },
    );
  }
}

/** `prepare` gives what one run may look at and fill in. All errors are looked for only when there is one. */
function toCheck(
  compile: (allErrors: boolean) => ValidateFunction,
  prepare: (value: unknown) => unknown,
): Check {
  const validate = compile(false);
  let explain: ValidateFunction | undefined;
  return (value) => {
    try {
      const prepared = prepare(value);
      if (validate(prepared)) return { ok: true, value: prepared };
      if (isLarge(value)) return { ok: false, issues: toIssues(validate.errors) };
      explain ??= compile(true);
      explain(prepare(value));
      return { ok: false, issues: toIssues(explain.errors) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { ok: false, issues: [{ path: "", message: `cannot be checked: ${reason}` }] };
    }
  };
}

function isLarge(value: unknown): boolean {
  const rest = [value];
  for (let seen = 0; rest.length > 0; seen++) {
    if (seen + rest.length > maxExplained) return true;
    const next = rest.pop();
    if (typeof next !== "object" || next === null) continue;
    for (const part of Object.values(next) as unknown[]) rest.push(part);
  }
  return false;
}
