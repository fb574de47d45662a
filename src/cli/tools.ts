import { splitName } from "../core/names.ts";
import type { ToolDefinition } from "../core/tool.ts";
import { parseFlags } from "./flags.ts";
import { exitCodes, type Io } from "./io.ts";
import { count, oneLine, styleOf, table, writeLine } from "./output.ts";
import { reportFailed, withGateway } from "./session.ts";

/** `toolgate tools`: what an agent would see. Exit code 3 says that an upstream is missing from it. */
export async function tools(argv: readonly string[], io: Io): Promise<number> {
  const { values } = parseFlags(argv, { config: { type: "string" }, json: { type: "boolean" } });
  return withGateway(io, { configPath: values.config }, async ({ gateway, context }) => {
    await gateway.settled();
    const list = await gateway.caller.list(context);
    const failed = gateway.upstreams().filter(({ state }) => state === "failed");
    if (values.json) writeLine(io.stdout, JSON.stringify(list, null, 2));
    else printTable(io, list, failed.length);
    reportFailed(io, failed);
    return failed.length === 0 ? exitCodes.done : exitCodes.unreachable;
  });
}

function printTable(io: Io, list: readonly ToolDefinition[], failed: number): void {
  const style = styleOf(io.stdout, io.env);
  const rows = list.map(({ name, title, description }) => [
    oneLine(name),
    splitName(name)?.namespace ?? "",
    oneLine(description ?? title ?? ""),
  ]);
  if (rows.length > 0) {
    const [head, ...lines] = table([["NAME", "FROM", "DESCRIPTION"], ...rows], io.stdout.columns);
    writeLine(io.stdout, style.bold(head!));
    for (const line of lines) writeLine(io.stdout, line);
  }
  const sources = new Set(rows.map(([, from]) => from)).size;
  const from = sources === 0 ? "" : ` from ${count(sources, "source")}`;
  const missing = failed === 0 ? "" : `; ${count(failed, "server")} failed`;
  writeLine(io.stdout, style.dim(`${count(list.length, "tool")}${from}${missing}`));
}
