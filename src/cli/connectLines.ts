/** How one program is told of this gateway. */
export interface ConnectLine {
  readonly client: string;
  /** What to do with `text`: run it, or put it into a file. */
  readonly how: string;
  readonly text: string;
}

const name = "toolgate";

/** The address of a door, and the token that it wants: without one none is sent. */
export interface ConnectOptions {
  readonly url: string;
  readonly token?: string;
}

/** Ready-made lines for the clients that can reach a door, each in its own syntax. */
export function connectLines(options: ConnectOptions): ConnectLine[] {
  const { url } = options;
  switch (url.slice(0, url.indexOf(":"))) {
    case "unix":
      return [throughNetcat(url), anotherToolgate(options)];
    case "tcp":
      return [firstLine(options), anotherToolgate(options)];
    case "ws":
      return [claudeCodeWebSocket(options), anotherToolgate(options)];
    default:
      return httpLines(options);
  }
}

function httpLines({ url, token }: ConnectOptions): ConnectLine[] {
  const authorization = token === undefined ? undefined : `Bearer ${token}`;
  const headers = headersOf({ token });
  // Claude Code's flag takes all that follows it, so it comes last; Gemini CLI's come first.
  const flag = authorization === undefined ? "" : ` --header "Authorization: ${authorization}"`;
  return [
    { client: "Claude Code", how: "run", text: `claude mcp add --transport http ${name} ${url}${flag}` },
    { client: "Codex", how: "add to ~/.codex/config.toml", text: codexToml(url, authorization) },
    { client: "Gemini CLI", how: "run", text: `gemini mcp add --transport http${flag} ${name} ${url}` },
    {
      client: "Cursor",
      how: "put into ~/.cursor/mcp.json",
      text: JSON.stringify({ mcpServers: { [name]: { url, ...headers } } }),
    },
    {
      client: "VS Code",
      how: "run",
      text: `code --add-mcp '${JSON.stringify({ name, type: "http", url, ...headers })}'`,
    },
  ];
}

function headersOf({ token }: { token: string | undefined }): { headers?: Record<string, string> } {
  return token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } };
}

function anotherToolgate({ url, token }: ConnectOptions): ConnectLine {
  return {
    client: "Another Toolgate",
    how: "put into its toolgate.json",
    text: JSON.stringify({ mcpServers: { [name]: { url, ...headersOf({ token }) } } }),
  };
}

function claudeCodeWebSocket({ url, token }: ConnectOptions): ConnectLine {
  return {
    client: "Claude Code",
    how: "put into .mcp.json",
    text: JSON.stringify({ mcpServers: { [name]: { type: "ws", url, ...headersOf({ token }) } } }),
  };
}

function throughNetcat(url: string): ConnectLine {
  const path = url.slice("unix:".length).replaceAll("'", String.raw`'\''`);
  return {
    client: "Any client that starts a server",
    how: "give it this command",
    text: `nc -U '${path}'`,
  };
}

function firstLine({ token }: ConnectOptions): ConnectLine {
  const meta = token === undefined ? {} : { _meta: { "dev.toolgate/token": token } };
  const clientInfo = { name: "me", version: "1.0.0" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo, ...meta };
  return {
    client: "A program of your own",
    how: "begin with a line like this",
    text: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
  };
}

function codexToml(url: string, authorization: string | undefined): string {
  const lines = [`[mcp_servers.${name}]`, `url = ${JSON.stringify(url)}`];
  if (authorization !== undefined)
    lines.push(`http_headers = { Authorization = ${JSON.stringify(authorization)} }`);
  return lines.join("\n");
}
