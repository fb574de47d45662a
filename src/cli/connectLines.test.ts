import { expect, test } from "vitest";
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
