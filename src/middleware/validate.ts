import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Check, Issue, Validation, Validator } from "../core/effects.ts";
import { ToolError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import type { Middleware, ToolItem } from "../core/operation.ts";
import { isToolResult, type ToolResult } from "../core/result.ts";

const maxListed = 10;

/**
 * Arguments and answers against the tool's schemas, compiled on first use. What local arguments pass as (with
 * defaults and transforms) goes on; an upstream's go on unchanged. Throws `ToolError` `InvalidArguments`;
 * `ExecutionFailed`, before the tool runs, for a schema that cannot be used; `InvalidOutput` for an answer that
 * breaks the tool's own. (Specification 2026-07-28, server/tools, Error Handling and Output Schema.)
 */
export function validate({ validator }: { validator: Validator }): Middleware {
  const checks = checksBy(validator);
  return {
    name: "validate",
    async call(operation, ctx, next) {
      // In what the caller reads, a tool has the name that the caller used.
      const { item, name } = operation;
      const mode = item?.facts.validation ?? "local";
      if (operation.kind !== "tools/call" || item?.kind !== "tool" || mode === "upstream")
        return next(operation, ctx);
      const input = checks.input(item, name);
      const output = mode === "local" ? checks.output(item, name) : undefined;
      const checked = await input(operation.arguments);
      if (!checked.ok) throw refused(name, checked);
      const unchanged = mode === "upstream-checked" || checked.value === operation.arguments;
      const result = await next(
        unchanged ? operation : { ...operation, arguments: checked.value as JsonObject },
        ctx,
      );
      return output && isToolResult(result) && !result.isError ? conforming(result, output, name) : result;
    },
  };
}

/** Finds the checks of an item; each schema is compiled once, for as long as somebody holds the schema. */
function checksBy(validator: Validator): {
  input(item: ToolItem, name: string): Check;
  output(item: ToolItem, name: string): Check | undefined;
} {
  const standard = once((schema: StandardSchemaV1) => validator.standard(schema));
  const trusted = once((schema: JsonObject) => validator.compile(schema, { trusted: true }));
  const untrusted = once((schema: JsonObject) => validator.compile(schema, { trusted: false }));
  return {
    input({ facts, definition }, name) {
      if (facts.validation === "upstream-checked")
        return untrusted(definition.inputSchema, `${name}: its input schema`);
      if (facts.inputStandard) return standard(facts.inputStandard, name);
      return trusted(definition.inputSchema, `${name}: its input schema`);
    },
    output({ facts, definition }, name) {
      if (facts.outputStandard) return standard(facts.outputStandard, name);
      return definition.outputSchema && trusted(definition.outputSchema, `${name}: its output schema`);
    },
  };
}

/** Remembers failures as well: a schema that cannot be used is not tried again on every call. */
function once<S extends object>(compile: (schema: S) => Check): (schema: S, whose: string) => Check {
  const known = new WeakMap<S, Check | { cause: unknown }>();
  const attempt = (schema: S): Check | { cause: unknown } => {
    try {
      return compile(schema);
    } catch (cause) {
      return { cause };
    }
  };
  return (schema, whose) => {
    let check = known.get(schema);
    if (!check) known.set(schema, (check = attempt(schema)));
    if (typeof check === "function") return check;
    const { cause } = check;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ToolError("ExecutionFailed", `${whose} cannot be used: ${reason}.`, { cause });
  };
}

type Failed = Extract<Validation, { ok: false }>;

function refused(name: string, failed: Failed): unknown {
  // The schema's own code failed, so nothing is known of the arguments: that is for the log.
  if (failed.cause !== undefined) return failed.cause;
  return new ToolError("InvalidArguments", `Invalid arguments for ${name}:\n${listed(failed.issues)}`);
}

async function conforming(result: ToolResult, check: Check, name: string): Promise<ToolResult> {
  if (result.structuredContent === undefined)
    throw invalidOutput(name, "- it has an output schema, so it must answer with structuredContent");
  const checked = await check(result.structuredContent);
  if (checked.ok)
    return checked.value === result.structuredContent
      ? result
      : { ...result, structuredContent: checked.value };
  if (checked.cause !== undefined) throw checked.cause;
  throw invalidOutput(name, listed(checked.issues));
}

function invalidOutput(name: string, problems: string): ToolError {
  return new ToolError(
    "InvalidOutput",
    `The answer of ${name} breaks its own output schema. This is a fault of the tool, not of the call:\n${problems}`,
  );
}

function listed(issues: readonly Issue[]): string {
  const lines = issues
    .slice(0, maxListed)
    .map(({ path, message }) => `- ${path === "" ? message : `${path}: ${message}`}`);
  if (issues.length > maxListed) lines.push(`- and ${issues.length - maxListed} more`);
  return lines.join("\n");
}
