import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FakeIo } from "./fakeIo.ts";
import { root } from "./paths.ts";

const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

/** Programs of others, which are not here: of their lines only the quotes are checked. */
const foreign = ["claude", "codex", "gemini", "code"];

/** Words of a shell line, one list a command. Understands quotes, `&&` and comments; throws an `Error` for an open quote. */
export function commandsOf(line: string): string[][] {
  const commands: string[][] = [[]];
  for (const [token] of line.matchAll(/#.*|&&|(?:'[^']*'|"[^"]*"|[^\s'"&])+|\S/g)) {
    if (token.startsWith("#")) break;
    if (token === "'" || token === '"') throw new Error(`a quote is not closed: ${line}`);
    if (token === "&&") commands.push([]);
    else commands.at(-1)!.push(token.replace(/'([^']*)'|"([^"]*)"/g, "$1$2"));
  }
  return commands.filter((command) => command.length > 0);
}

/** Why a command cannot be what a reader should type; undefined if it can. `stateFolder` takes what it writes. */
export async function commandProblem(
  words: readonly string[],
  stateFolder: string,
): Promise<string | undefined> {
  const [program = "", first = "", ...rest] = words;
  if (program === "toolgate") return toolgateProblem(words.slice(1), stateFolder);
  if (program === "npx" && first === "toolgate") return toolgateProblem(rest, stateFolder);
  if (program === "node" && first === "dist/cli/main.js") return toolgateProblem(rest, stateFolder);
  if (program === "npm") return npmProblem(first, rest[0]);
  if (program === "node") return existsSync(join(root, first)) ? undefined : `there is no file ${first}`;
  if (existsSync(join(root, program)) || foreign.includes(program)) return undefined;
  return `nobody knows "${program}"`;
}

function npmProblem(command: string, script: string | undefined): string | undefined {
  if (command === "ci") return undefined;
  const name = command === "run" ? script : command;
  return name !== undefined && name in manifest.scripts ? undefined : `package.json has no script "${name}"`;
}

async function folderWith(server: string, folder: string): Promise<string> {
  const config = { mcpServers: { [server]: { url: "https://mcp.example.com/mcp" } } };
  await writeFile(join(folder, "toolgate.json"), JSON.stringify(config));
  return folder;
}

const understood = "understood";

/** Runs it on a gateway that cannot be made, which is the first thing after the command line and the configuration. */
async function toolgateProblem(argv: readonly string[], stateFolder: string): Promise<string | undefined> {
  const broken = new Error(understood);
  const io = new FakeIo({
    env: { XDG_STATE_HOME: stateFolder },
    stdin: "{}",
    broken,
    signIn: () => Promise.reject(broken),
    // A command about one server wants it configured.
    ...(argv[0] === "auth" && { cwd: await folderWith(argv[1] ?? "", stateFolder) }),
  });
  const code = await io.run(...argv);
  return code === 0 || io.stderr.text.includes(understood) ? undefined : io.stderr.text;
}
