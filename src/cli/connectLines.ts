/** How one program is told of this gateway. */
export interface ConnectLine {
  readonly client: string;
  /** What to do with `text`: run it, or put it into a file. */
  readonly how: string;
  readonly text: string;
}

const name = "toolgate";

/**
 * Ready-made lines for the common clients, each in its own syntax. `url` is the MCP address; without a
 * `token` no header is sent.
 */
export function connectLines({ url, token }: { url: string; token?: string }): ConnectLine[] {
  const authorization = token === undefined ? undefined : `Bearer ${token}`;
  const headers = authorization === undefined ? {} : { headers: { Authorization: authorization } };
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

function codexToml(url: string, authorization: string | undefined): string {
  const lines = [`[mcp_servers.${name}]`, `url = ${JSON.stringify(url)}`];
  if (authorization !== undefined)
    lines.push(`http_headers = { Authorization = ${JSON.stringify(authorization)} }`);
  return lines.join("\n");
}
