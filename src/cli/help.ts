/** One command, for a person. */
export interface CommandHelp {
  readonly usage: string;
  readonly summary: string;
  /** Flags and arguments, each with what it does. */
  readonly details: readonly (readonly [string, string])[];
  readonly example: string;
}

const config = ["--config FILE", "the configuration; without it ./toolgate.json, else the defaults"] as const;
const json = (what: string) => ["--json", what] as const;

export const commandHelp = {
  serve: {
    usage:
      "toolgate serve [--config FILE] [--stdio] [--http [HOST:]PORT] [--sse] [--tcp [HOST:]PORT] [--unix PATH] " +
      "[--ws [HOST:]PORT] [--ide] [--no-auth]",
    summary: "serve every tool over MCP, on http://127.0.0.1:7070/mcp by default",
    details: [
      config,
      ["--stdio", "serve the program that started it, on standard input and output"],
      ["--http [HOST:]PORT", "serve HTTP there; HOST is a loopback address, PORT 0 is any free one"],
      ["--sse", "also serve clients of 2024 (the deprecated HTTP+SSE), at /mcp/sse"],
      ["--tcp [HOST:]PORT", "serve TCP there, a message a line"],
      ["--unix PATH", "serve a Unix socket, a message a line, to this user alone and without a token"],
      ["--ws [HOST:]PORT", "serve WebSocket there"],
      ["--ide", "let Claude Code find the WebSocket door as that of an editor"],
      ["--no-auth", "ask network clients for no token: any program on this machine may call every tool"],
    ],
    example: "toolgate serve --http 8080 --unix ./toolgate.sock",
  },
  tools: {
    usage: "toolgate tools [--config FILE] [--json]",
    summary: "list what an agent would see",
    details: [config, json("print the tools as MCP lists them")],
    example: "toolgate tools --json",
  },
  call: {
    usage: "toolgate call NAME [JSON] [--config FILE] [--json]",
    summary: "call one tool, through everything that a call passes",
    details: [
      ["NAME", 'the tool, as "toolgate tools" shows it'],
      ["JSON", "its arguments as an object; - reads them from standard input; without it {}"],
      config,
      json("print the whole result"),
    ],
    example: `toolgate call builtin__file_read '{"path": "README.md"}'`,
  },
  auth: {
    usage: "toolgate auth SERVER [--config FILE] [--no-browser] [--port PORT]",
    summary: "sign in to a server that wants OAuth, and keep its tokens for the gateway",
    details: [
      ["SERVER", 'the server, as "mcpServers" names it'],
      config,
      ["--no-browser", "only print the address of the page, to be opened by hand"],
      [
        "--port PORT",
        "where the browser comes back to, if a client was registered with that; else any free one",
      ],
    ],
    example: "toolgate auth github",
  },
  doctor: {
    usage: "toolgate doctor [--config FILE]",
    summary: "show what works here: Node, state, processes, each upstream and why not",
    details: [config],
    example: "toolgate doctor --config toolgate.json",
  },
} as const satisfies Record<string, CommandHelp>;

export type CommandName = keyof typeof commandHelp;

export const commandNames = Object.keys(commandHelp) as CommandName[];

export function isCommand(text: string | undefined): text is CommandName {
  return text !== undefined && (commandNames as string[]).includes(text);
}

/** The page for one command, or the overview. */
export function helpText(command?: CommandName): string {
  return command === undefined ? overview() : page(commandHelp[command]);
}

function overview(): string {
  const lines = commandNames.map((name) => `  ${name.padEnd(8)} ${commandHelp[name].summary}`);
  return `Toolgate: define a tool once, guard it once, serve it to every agent.

Usage: toolgate COMMAND [...]

${lines.join("\n")}
  help     explain a command: toolgate help serve

  --version, or -v, prints the version. TOOLGATE_DEBUG=1 logs everything and shows where an error came from.

Exit codes: 0 done, 1 the tool answered with an error, 2 wrong usage or configuration,
3 could not start or reach something.

Example: npx toolgate serve
`;
}

function page({ usage, summary, details, example }: CommandHelp): string {
  const width = Math.max(...details.map(([name]) => name.length));
  const lines = details.map(([name, what]) => `  ${name.padEnd(width)}  ${what}`);
  const sentence = summary[0]!.toUpperCase() + summary.slice(1);
  return `${sentence}.\n\nUsage: ${usage}\n\n${lines.join("\n")}\n\nExample: ${example}\n`;
}
