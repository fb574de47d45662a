import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import type { Middleware } from "../../core/operation.ts";
import type { ToolDefinition } from "../../core/tool.ts";
import { encodeHeader } from "../../wire/protocol.ts";
import { callerTo, providerOf, ShellClient, wayOf } from "../../../test/support/shellClient.ts";
import { checkParamHeaders } from "./checkParamHeaders.ts";

const tool: ToolDefinition = {
  name: "sql",
  inputSchema: {
    type: "object",
    properties: {
      region: { type: ["string", "null"], "x-mcp-header": "Region" },
      limit: { type: "integer", "x-mcp-header": "Row-Limit" },
      dry: { type: "boolean", "x-mcp-header": "dry" },
      deep: { type: "object", properties: { key: { type: "string", "x-mcp-header": "Key" } } },
      free: { type: "string" },
    },
  },
};

const check =
  (args: JsonObject, headers: Record<string, string>, of = tool) =>
  () =>
    checkParamHeaders(of, args, (name) => headers[name]);

const all = { region: "us", limit: 42, dry: true, deep: { key: "k" }, free: "x" };
const sent = {
  "mcp-param-region": "us",
  "mcp-param-row-limit": "42",
  "mcp-param-dry": "true",
  "mcp-param-key": "k",
};

describe("headers of parameters", () => {
  it.each<[string, JsonObject, Record<string, string>]>([
    ["all are there", all, sent],
    ["an argument is null", { region: null }, {}],
    ["an argument is not there", {}, {}],
    ["the way to an argument is not there", { deep: "none" }, {}],
    ["one is there that no tool knows", {}, { "mcp-param-free": "y" }],
    ["a value is empty", { region: "" }, { "mcp-param-region": "" }],
    ["a value is encoded", { region: "us" }, { "mcp-param-region": "=?base64?dXM=?=" }],
    ["a number is the same", { limit: 42 }, { "mcp-param-row-limit": "42.0" }],
    ["a number is encoded", { limit: -7 }, { "mcp-param-row-limit": "=?base64?LTc=?=" }],
  ])("are in order where %s", (_what, args, headers) => {
    expect(check(args, headers)).not.toThrow();
  });

  it.each<[string, JsonObject, Record<string, string>, string]>([
    ["one is missing", { region: "us" }, {}, "Mcp-Param-Region header is missing"],
    ["one says another value", { region: "us" }, { "mcp-param-region": "eu" }, "another value"],
    ["the case of a value differs", { region: "us" }, { "mcp-param-region": "US" }, "another value"],
    ["the argument is null", { region: null }, { "mcp-param-region": "us" }, "not there"],
    ["the argument is not there", {}, { "mcp-param-region": "us" }, "not there"],
    ["the argument is inherited", {}, { "mcp-param-key": "k" }, "not there"],
    ["the base64 is broken", { region: "us" }, { "mcp-param-region": "=?base64?%?=" }, "broken base64"],
    ["a character is not encoded", { region: "\u00fc" }, { "mcp-param-region": "\u00fc" }, "must be encoded"],
    ["a number differs", { limit: 42 }, { "mcp-param-row-limit": "43" }, "another value"],
    ["a number is empty", { limit: 0 }, { "mcp-param-row-limit": "" }, "another value"],
    ["a number is written in hexadecimal", { limit: 16 }, { "mcp-param-row-limit": "0x10" }, "another value"],
    [
      "a number is too large to be sure",
      { limit: 2 ** 53 },
      { "mcp-param-row-limit": "9007199254740993" },
      "another",
    ],
    ["a boolean differs", { dry: false }, { "mcp-param-dry": "0" }, "another value"],
    ["a text looks like the number", { region: "42" }, { "mcp-param-region": "42.0" }, "another value"],
    ["an argument is no primitive", { region: { a: 1 } }, { "mcp-param-region": "x" }, "another value"],
  ])("are refused where %s", (_what, args, headers, why) => {
    expect(check(args, headers)).toThrow(why);
    expect(check(args, headers)).toThrow(expect.objectContaining({ code: -32020, status: 400 }));
  });

  test("are those of a tool whose schema keeps the rules", () => {
    const broken = { ...tool, inputSchema: { type: "object", properties: { a: { "x-mcp-header": "A" } } } };
    expect(check({ a: 1 }, {}, broken)).not.toThrow();
  });

  test("say whatever a client encodes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (region) => {
        expect(check({ region }, { "mcp-param-region": encodeHeader(region) })).not.toThrow();
      }),
    );
  });
});

describe("a call over HTTP", () => {
  const provider = {
    ...providerOf({ sql: (args) => JSON.stringify(args) }),
    listTools: async () => [tool],
  };
  const hidden: Middleware = { name: "hidden", visible: () => false };
  const send = (headers: Record<string, string>, middleware: readonly Middleware[] = []) => {
    const standard = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "sql" };
    const client = new ShellClient(callerTo(provider, middleware));
    const params = { name: "sql", arguments: { region: "us" } };
    return client.modern("tools/call", params, wayOf("local", { ...standard, ...headers }));
  };

  it("runs if they say what the arguments say, and not otherwise", async () => {
    expect((await send({ "mcp-param-region": "us" })).result.content[0].text).toBe('{"region":"us"}');
    expect(await send({ "mcp-param-region": "eu" })).toMatchObject({ status: 400, error: { code: -32020 } });
    expect(await send({})).toMatchObject({ status: 400, error: { code: -32020 } });
  });

  it("tells nothing of a tool that the caller may not see", async () => {
    const unknown = { status: 200, error: { code: -32602, message: "Unknown tool: sql" } };
    expect(await send({}, [hidden])).toMatchObject(unknown);
    expect(await send({ "mcp-param-region": "eu" }, [hidden])).toMatchObject(unknown);
  });

  it("does not need them elsewhere, or in a session", async () => {
    const client = new ShellClient(callerTo(provider));
    const params = { name: "sql", arguments: { region: "us" } };
    expect((await client.modern("tools/call", params)).result.isError).toBeUndefined();
    await client.initialize();
    const legacy = { ...client.exchange, headers: () => undefined };
    expect((await client.ask("tools/call", params, legacy)).result.isError).toBeUndefined();
  });
});
