import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { LogLevel } from "../core/effects.ts";
import { ConfigDocument } from "./configDocument.ts";
import { ConfigError } from "./configError.ts";
import { defaultLimits, readLimits } from "./configLimits.ts";
import { defaultAddress, readListen } from "./configListen.ts";
import { readUpstreams } from "./configUpstreams.ts";
import type { ConfigValue } from "./configValue.ts";
import { isToken } from "./token.ts";
import type { BuiltinToolsConfig, GatewayConfig, PrincipalConfig } from "./types.ts";

export { ConfigError } from "./configError.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Something in the configuration that is no mistake and that its author should know. */
export interface ConfigNote {
  readonly level: Extract<LogLevel, "notice" | "warning">;
  readonly message: string;
}

export interface ParsedConfig {
  readonly config: GatewayConfig;
  readonly notes: readonly ConfigNote[];
  /** Where it came from. Absent: the defaults. */
  readonly file?: string;
}

/** Bytes of a file that the built-in file tools read. */
export const fileReadLimitBytes = 102_400;

/** What is served where there is no configuration: the file tools in `workspace`. */
export function defaultConfig(workspace: string): GatewayConfig {
  return {
    upstreams: [],
    tools: { workspace, file: { readLimitBytes: fileReadLimitBytes } },
    listen: {
      http: defaultAddress,
      stdio: false,
      sse: false,
      dialect: "mcp",
      allowedHosts: [],
      allowedOrigins: [],
    },
    principals: [],
    limits: defaultLimits,
  };
}

/** Reads `path`, else `toolgate.json` in `cwd`, else takes the defaults. Throws `ConfigError`. */
export async function loadConfig(options: { path?: string; cwd: string; env: Env }): Promise<ParsedConfig> {
  const file = resolve(options.cwd, options.path ?? "toolgate.json");
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && options.path === undefined)
      return { config: defaultConfig(options.cwd), notes: [] };
    const message = unreadable[code ?? ""] ?? `It cannot be read (${code ?? String(error)}).`;
    throw new ConfigError(file, [{ path: "", line: 0, column: 0, message }]);
  }
  return parseConfig(text, { file, env: options.env });
}

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: "There is no such file. Check the path that --config names.",
  EISDIR: `This is a folder. Name a file in it, as ${join("FOLDER", "toolgate.json")}.`,
  EACCES: "It may not be read by this user. Check its permissions.",
};

const sections = [
  "mcpServers",
  "servers",
  "inputs",
  "tools",
  "listen",
  "principals",
  "limits",
  "instructions",
] as const;

/** `file` is absolute: messages name it, and relative paths are relative to its folder. Throws `ConfigError`. */
export function parseConfig(text: string, options: { file: string; env: Env }): ParsedConfig {
  const document = new ConfigDocument(text, options.file, options.env);
  const folder = dirname(options.file);
  const fields = document.root.fields(sections, serverHint) ?? {};
  const { mcpServers, servers, inputs } = fields;
  if (mcpServers && servers) servers.fail('stands beside "mcpServers". Move its entries there.');
  const tools = fields.tools && readTools(fields.tools, folder);
  const read = readUpstreams(mcpServers ?? servers, { folder, builtinTaken: tools !== undefined });
  const instructions = fields.instructions?.text();
  const config: GatewayConfig = {
    upstreams: read.upstreams,
    ...(tools && { tools }),
    listen: readListen(fields.listen, folder),
    principals: readPrincipals(fields.principals),
    limits: readLimits(fields.limits),
    ...(instructions !== undefined && { instructions }),
  };
  document.finish();
  return { config, notes: notesOn(read, inputs !== undefined), file: options.file };
}

/** An entry that stands beside `mcpServers` instead of in it. */
function serverHint(value: ConfigValue): string {
  return value.has("command") || value.has("url") ? ' It looks like a server: put it into "mcpServers".' : "";
}

function notesOn(read: ReturnType<typeof readUpstreams>, hasInputs: boolean): ConfigNote[] {
  const notes: ConfigNote[] = read.renamed.map(({ key, namespace }) => ({
    level: "notice",
    message: `The server "${key}" has the namespace "${namespace}": its name holds what a tool's name cannot.`,
  }));
  if (read.ignored.length > 0)
    notes.push({
      level: "warning",
      message: `Fields of servers that Toolgate does not know are ignored: ${read.ignored.join(", ")}.`,
    });
  if (hasInputs)
    notes.push({
      level: "warning",
      message: '"inputs" is ignored: Toolgate does not prompt. Use ${env:NAME}.',
    });
  return notes;
}

function readTools(section: ConfigValue, folder: string): BuiltinToolsConfig | undefined {
  const { file, workspace } = section.fields(["file", "workspace"]) ?? {};
  const path = workspace?.filePath();
  const fileTool = file && readFileTool(file);
  if (!fileTool) {
    workspace?.fail('has no effect: no built-in tool is on. Add "file": true beside it.');
    return undefined;
  }
  return { workspace: resolve(folder, path ?? "."), file: fileTool };
}

function readFileTool(value: ConfigValue): BuiltinToolsConfig["file"] {
  if (value.type === "boolean")
    return value.raw === true ? { readLimitBytes: fileReadLimitBytes } : undefined;
  if (value.type !== "object") return value.fail('must be true, false, or an object with "readLimitBytes".');
  const limit = value.fields(["readLimitBytes"])?.readLimitBytes;
  return { readLimitBytes: limit?.integer({ min: 1, max: 16 * 1024 * 1024 }) ?? fileReadLimitBytes };
}

function readPrincipals(section: ConfigValue | undefined): PrincipalConfig[] {
  const principals: PrincipalConfig[] = [];
  for (const [name, { value, failKey }] of section?.members() ?? []) {
    if (name === "" || name === "local")
      failKey(
        `cannot be "${name}"${name === "" ? "" : ": that is the person at this machine"}. Choose another name.`,
      );
    const fields = value.fields(["token"]);
    if (!fields) continue;
    if (!fields.token) value.fail('needs a "token".');
    const token = fields.token?.text();
    if (token === undefined) continue;
    const owner = principals.find((other) => other.token === token);
    if (!isToken(token))
      fields.token?.fail(
        'must be at least 16 characters long, of A-Z, a-z, 0-9 and "-._~+/", with "=" at its end only.',
      );
    else if (owner) fields.token?.fail(`is the same as that of "${owner.name}". Give each its own.`);
    principals.push({ name, token });
  }
  return principals;
}
