import { describe, expect, test } from "vitest";
import { connectLines } from "./connectLines.ts";

const url = "http://127.0.0.1:7070/mcp";
const token = "tOkEn-_0123456789";

const textFor = (client: string, withToken: boolean): string =>
  connectLines({ url, ...(withToken && { token }) }).find((line) => line.client === client)!.text;

test("Claude Code's flag takes all that follows it, so it comes last", () => {
  expect(textFor("Claude Code", true)).toBe(
    `claude mcp add --transport http toolgate ${url} --header "Authorization: Bearer ${token}"`,
  );
  expect(textFor("Claude Code", false)).toBe(`claude mcp add --transport http toolgate ${url}`);
});

test("Gemini CLI's flags come before the name", () => {
  expect(textFor("Gemini CLI", true)).toBe(
    `gemini mcp add --transport http --header "Authorization: Bearer ${token}" toolgate ${url}`,
  );
  expect(textFor("Gemini CLI", false)).toBe(`gemini mcp add --transport http toolgate ${url}`);
});

test("Codex gets a table of TOML", () => {
  expect(textFor("Codex", true).split("\n")).toEqual([
    "[mcp_servers.toolgate]",
    `url = "${url}"`,
    `http_headers = { Authorization = "Bearer ${token}" }`,
  ]);
  expect(textFor("Codex", false).split("\n")).toEqual(["[mcp_servers.toolgate]", `url = "${url}"`]);
});

test("Cursor gets JSON for its file", () => {
  const headers = { Authorization: `Bearer ${token}` };
  expect(JSON.parse(textFor("Cursor", true))).toEqual({ mcpServers: { toolgate: { url, headers } } });
  expect(JSON.parse(textFor("Cursor", false))).toEqual({ mcpServers: { toolgate: { url } } });
});

test("VS Code gets JSON in single quotes, which hold for a shell", () => {
  const [, json] = /^code --add-mcp '([^']*)'$/.exec(textFor("VS Code", true))!;
  const headers = { Authorization: `Bearer ${token}` };
  expect(JSON.parse(json!)).toEqual({ name: "toolgate", type: "http", url, headers });
});

describe("doors that are not HTTP", () => {
  const lineFor = (url: string, client: string, withToken = true) =>
    connectLines({ url, ...(withToken && { token }) }).find((line) => line.client === client)!.text;
  const headers = { Authorization: `Bearer ${token}` };

  test.each(["ws://127.0.0.1:7072/mcp", "tcp://127.0.0.1:7071", "unix:/run/gate.sock"])(
    "%s is an entry of another Toolgate",
    (address) => {
      const entry = (withToken: boolean) => JSON.parse(lineFor(address, "Another Toolgate", withToken));
      expect(entry(true)).toEqual({ mcpServers: { toolgate: { url: address, headers } } });
      expect(entry(false)).toEqual({ mcpServers: { toolgate: { url: address } } });
    },
  );

  test("Claude Code is told that it is WebSocket", () => {
    const address = "ws://127.0.0.1:7072/mcp";
    expect(JSON.parse(lineFor(address, "Claude Code"))).toEqual({
      mcpServers: { toolgate: { type: "ws", url: address, headers } },
    });
  });

  test("a program of one's own begins with the token", () => {
    const first = (withToken: boolean) =>
      JSON.parse(lineFor("tcp://127.0.0.1:7071", "A program of your own", withToken));
    expect(first(true)).toMatchObject({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { _meta: { "dev.toolgate/token": token } },
    });
    expect(first(false).params).not.toHaveProperty("_meta");
  });

  test("the path of a socket is quoted for a shell", () => {
    const client = "Any client that starts a server";
    expect(lineFor("unix:/run/a b.sock", client, false)).toBe("nc -U '/run/a b.sock'");
    expect(lineFor("unix:/it's", client, false)).toBe(String.raw`nc -U '/it'\''s'`);
  });
});
