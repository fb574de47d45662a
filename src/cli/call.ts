import { text as readAll } from "node:stream/consumers";
import type { ContentBlock } from "../core/content.ts";
import type { LogEntry, Progress } from "../core/context.ts";
import type { ToolError, ToolErrorCode } from "../core/errors.ts";
import { isObject, type JsonObject } from "../core/json.ts";
import { splitName } from "../core/names.ts";
import { isToolResult, type InputRequired, type RawResult, type ToolResult } from "../core/result.ts";
import { didYouMean } from "../gateway/nearest.ts";
import { builtinNamespace, type Gateway, type UpstreamStatus } from "../gateway/types.ts";
import { parseFlags, UsageError } from "./flags.ts";
import { exitCodes, type Io } from "./io.ts";
import { oneLine, printable, styleOf, writeLine } from "./output.ts";
import { ProgressLine } from "./progressLine.ts";
import { reportFailed, upstreamSettled, withGateway, type Work } from "./session.ts";

/** `toolgate call`: one call through the whole path. */
export async function call(argv: readonly string[], io: Io): Promise<number> {
  const flags = { config: { type: "string" }, json: { type: "boolean" } } as const;
  const { values, positionals } = parseFlags(argv, flags, 2);
  const [name, json] = positionals;
  if (name === undefined) throw new UsageError('Name the tool to call. "toolgate tools" lists them.');
  const args = parseArguments(json === "-" ? await readAll(io.stdin) : json);
  // Who names the server of the tool does not wait for the others.
  const chosen = { configPath: values.config, only: splitName(name)?.namespace };
  return withGateway(io, chosen, async ({ gateway, context }) => {
    await ownerSettled(gateway, name);
    const line = new ProgressLine(io);
    const ctx = context.with({
      onProgress: (progress) => line.show(describeProgress(progress)),
      onLog: (entry) => line.above(describeLog(entry)),
    });
    const outcome = await gateway.caller.call({ kind: "tools/call", name, arguments: args }, ctx);
    line.clear();
    if (outcome.type === "error") return reportError(io, { gateway, context, name, error: outcome.error });
    if (outcome.type === "input_required") return reportAsked(io, name, outcome.asked);
    const { result } = outcome;
    if (values.json || !isToolResult(result))
      writeLine(io.stdout, JSON.stringify(wholeResult(result), null, 2));
    else printResult(io, result);
    if (!isToolResult(result) || !result.isError) return exitCodes.done;
    return exitOf(result.metadata?.["code"]);
  });
}

const sample = `'{"path": "a.txt"}'`;

function parseArguments(json: string | undefined): JsonObject {
  if (json === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new UsageError(
      `The arguments are no JSON: ${oneLine((error as Error).message)}. Write it as ${sample}.`,
    );
  }
  if (!isObject(value)) throw new UsageError(`The arguments must be a JSON object, as ${sample}.`);
  return value;
}

/** Waits for the upstream that the name belongs to, or for all of them where it does not say. */
async function ownerSettled(gateway: Gateway, name: string): Promise<void> {
  const namespace = splitName(name)?.namespace;
  if (namespace === undefined) await gateway.settled();
  else if (namespace !== builtinNamespace) await upstreamSettled(gateway, namespace);
}

/** What a call that failed means for whoever runs the command; the tool's own failures have no code. */
const errorExits: Partial<Record<ToolErrorCode, number>> = {
  NotFound: exitCodes.usage,
  InvalidArguments: exitCodes.usage,
  Unavailable: exitCodes.unreachable,
  Cancelled: exitCodes.interrupted,
};

function exitOf(code: unknown): number {
  return errorExits[code as ToolErrorCode] ?? exitCodes.toolError;
}

interface FailedCall extends Omit<Work, "parsed"> {
  readonly name: string;
  readonly error: ToolError;
}

async function reportError(io: Io, { gateway, context, name, error }: FailedCall): Promise<number> {
  const style = styleOf(io.stderr, io.env);
  let hint = "";
  let code = exitOf(error.code);
  if (error.code === "NotFound") {
    const known = (await gateway.caller.list(context)).map((tool) => tool.name);
    hint = `.${didYouMean(name, known) || ' "toolgate tools" lists what there is.'}`;
    // It may be a tool of an upstream that is not there.
    if (reportFailed(io, possibleOwners(gateway, name)).length > 0) code = exitCodes.unreachable;
  }
  writeLine(io.stderr, `${style.red("error")} ${oneLine(error.message)}${hint}`);
  return code;
}

/** What a tool needs to know first, only a client that speaks to a person can tell it. */
function reportAsked(io: Io, name: string, { inputRequests = {} }: InputRequired): number {
  const style = styleOf(io.stderr, io.env);
  const methods = [...new Set(Object.values(inputRequests).map(({ method }) => oneLine(method)))];
  const what = methods.length === 0 ? "" : ` (${methods.join(", ")})`;
  writeLine(
    io.stderr,
    `${style.red("error")} ${name} asks for input${what}, which the command line cannot answer yet. ` +
      "Call it from an MCP client that can.",
  );
  return exitCodes.toolError;
}

function possibleOwners(gateway: Gateway, name: string): UpstreamStatus[] {
  const namespace = splitName(name)?.namespace;
  return gateway.upstreams().filter((status) => namespace === undefined || status.namespace === namespace);
}

/** The result as a client gets it. */
function wholeResult(result: ToolResult | RawResult): JsonObject {
  if (!isToolResult(result)) return result.value;
  const { metadata: _, extra, ...named } = result;
  return { ...extra, ...named };
}

function printResult(io: Io, result: ToolResult): void {
  const onTerminal = io.stdout.isTTY === true;
  for (const block of result.content) {
    const text = describeBlock(block);
    writeLine(io.stdout, onTerminal ? printable(text) : text);
  }
  if (result.content.length === 0 && result.structuredContent !== undefined)
    writeLine(io.stdout, JSON.stringify(result.structuredContent, null, 2));
}

function describeBlock(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return `[link ${block.uri}]`;
    case "resource":
      return block.resource.text ?? `[resource ${block.resource.uri}: --json shows it]`;
    case "image":
    case "audio":
      return `[${block.type} ${block.mimeType}, ${block.data.length} characters of base64: --json shows it]`;
    default:
      // An upstream's block may be of a kind that is not known here.
      return `[${(block as { type: string }).type}: --json shows it]`;
  }
}

function describeProgress({ progress, total, message }: Progress): string {
  const amount = total === undefined ? String(progress) : `${progress}/${total}`;
  return message === undefined ? amount : `${amount} ${oneLine(message)}`;
}

function describeLog({ level, data, logger }: LogEntry): string {
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  return oneLine(`${level} ${logger === undefined ? "" : `${logger}: `}${text}`);
}
