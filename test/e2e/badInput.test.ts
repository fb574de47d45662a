import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { fixture, test } from "../support/fixtures.ts";
import { waitUntil } from "../support/processes.ts";
import { http, initialize, initialized, legacy, modern, modernPost, open } from "../support/rawHttp.ts";
import { openSession, type Answer, type Sent } from "../support/rawHttp.ts";
import { runProgram, type Ended } from "../support/runProgram.ts";
import type { StdioProgram } from "../support/stdioToolgate.ts";
import { startToolgate, toolgateCommand, type RunningToolgate } from "../support/toolgate.ts";
import { Witness } from "../support/witness.ts";

// What clients and people get wrong, and the exact answer to it.

const limit = 2048;
const config = (dialect: string) => ({
  listen: { http: 0, dialect },
  limits: { messageBytes: limit },
  tools: { file: true },
});

/** One Toolgate over HTTP for all tests of a `describe`, with an upstream `up` that tells the witness. */
function serveHttp(dialect: string): { readonly toolgate: RunningToolgate; readonly witness: Witness } {
  const served: { toolgate?: RunningToolgate; witness?: Witness; folder?: string } = {};
  beforeAll(async () => {
    const witness = await Witness.listen();
    const folder = await mkdtemp(join(tmpdir(), "toolgate-test-"));
    const mcpServers = { up: fixture(witness, "recorder.mjs", "up") };
    const command = await toolgateCommand(folder, ["serve"], {
      config: { ...config(dialect), mcpServers },
    });
    Object.assign(served, { witness, folder, toolgate: await startToolgate(command) });
  });
  afterAll(async () => {
    await served.toolgate?.stop();
    await served.witness?.close();
    if (served.folder !== undefined) await rm(served.folder, { recursive: true });
  });
  return served as { toolgate: RunningToolgate; witness: Witness };
}

const error = (id: number | string | null | undefined, code: number, message: string): JsonObject => ({
  jsonrpc: "2.0",
  ...(id !== undefined && { id }),
  error: { code, message },
});

/** Texts that are JSON and no JSON-RPC message, and the id where one can be read in them. */
const shapeless: readonly (readonly [string, id?: number])[] = [
  ["1"],
  ['"text"'],
  ["null"],
  ["{}"],
  ["[]"],
  ['{"jsonrpc":"2.0","id":null,"method":"ping"}'],
  ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}'],
  ['{"jsonrpc":"2.0","id":{},"method":"ping"}'],
  ['{"jsonrpc":"1.0","id":7,"method":"ping"}', 7],
  ['{"id":7,"method":"ping"}', 7],
  ['{"jsonrpc":"2.0","id":7}', 7],
  ['{"jsonrpc":"2.0","id":7,"method":5}', 7],
  ['{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}', 7],
  ['{"jsonrpc":"2.0","id":7,"method":"ping","params":null}', 7],
];

const unparsable = ["{", '{"jsonrpc":"2.0","id":1,"method":"ping"', "tools/list", "{'id': 1}", "\u0000"];

const batch = [legacy("ping", {}, 1), legacy("ping", {}, 2)];

const badArguments = { name: "builtin__file_write", arguments: { content: 5, mode: "x" } };
const complaint = [
  "Invalid arguments for builtin__file_write:",
  "- must have required property 'path'",
  "- must not have the property 'mode'",
  "- /content: must be string, got number",
].join("\n");

describe("over HTTP", () => {
  const served = serveHttp("mcp");
  const post = (sent: Sent): Promise<Answer> => http(served.toolgate, sent);
  const refused = (status: number, json: JsonObject) => ({ status, json });

  test.for(unparsable)("%j is a parse error", async (body) => {
    expect(await post({ body })).toMatchObject(refused(400, error(undefined, -32700, "Parse error")));
  });

  test("nothing at all is one too", async () => {
    expect(await post({})).toMatchObject(refused(400, error(undefined, -32700, "Parse error")));
  });

  test.for(shapeless)("%s is no request", async ([body, id]) => {
    expect(await post({ body })).toMatchObject(refused(400, error(id, -32600, "Invalid Request")));
  });

  test("what is nested too deep to be passed on is no request", async () => {
    const body = `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":${"[".repeat(600)}${"]".repeat(600)}}}`;
    expect(await post({ body })).toMatchObject(refused(400, error(7, -32600, "Invalid Request")));
  });

  test("a batch is refused as one in revisions without batches", async () => {
    const refusal = refused(400, error(undefined, -32600, "Invalid Request"));
    expect(await post({ headers: { "MCP-Protocol-Version": "2026-07-28" }, body: batch })).toMatchObject(
      refusal,
    );
    const headers = await openSession(served.toolgate, "2025-11-25");
    expect(await post({ headers, body: batch })).toMatchObject(refusal);
  });

  test("a batch is served in revision 2025-03-26, with an answer for each request in it", async () => {
    const headers = await openSession(served.toolgate, "2025-03-26");
    const body = [...batch, { jsonrpc: "2.0", id: 3 }, initialized];
    const answers = [
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: 2, result: {} },
      error(3, -32600, "Invalid Request"),
    ];
    expect(await post({ headers, body })).toMatchObject({ status: 200, json: answers });
  });

  test("a message over the limit is refused, and the next one is served", async () => {
    const message = `Message too large: the limit is ${limit} bytes`;
    const body = modern("tools/call", { name: "up__echo", arguments: { text: "x".repeat(limit) } });
    expect(await post({ body })).toMatchObject(refused(413, error(undefined, -32600, message)));
    expect(await post(modernPost("tools/list"))).toMatchObject({ status: 200 });
  });

  test("an unknown tool is an error in both eras", async () => {
    const headers = await openSession(served.toolgate);
    for (const name of ["up__nope", "nope__echo", "nope", ""]) {
      const wanted = { status: 200, json: error(4, -32602, `Unknown tool: ${name}`) };
      expect(await post(modernPost("tools/call", { name }, 4))).toMatchObject(wanted);
      expect(await post({ headers, body: legacy("tools/call", { name }, 4) })).toMatchObject(wanted);
    }
  });

  test("a call without a name, or with arguments that are no object, is an error", async () => {
    const nameless = error(1, -32602, "tools/call: params.name must be a string");
    expect(await post(modernPost("tools/call"))).toMatchObject({ json: nameless });
    const list = error(1, -32602, "tools/call: params.arguments must be an object");
    expect(await post(modernPost("tools/call", { name: "up__echo", arguments: [] }))).toMatchObject({
      json: list,
    });
  });

  test("arguments that break the schema are a result that names each path", async () => {
    const headers = await openSession(served.toolgate);
    const result = { isError: true, content: [{ type: "text", text: complaint }] };
    expect(await post(modernPost("tools/call", badArguments))).toMatchObject({
      status: 200,
      json: { result },
    });
    const plain = await post({ headers, body: legacy("tools/call", badArguments, 5) });
    expect(plain.json).toEqual({ jsonrpc: "2.0", id: 5, result });
  });

  test("an unknown method is 404 in the modern era and 200 in a session", async () => {
    const headers = await openSession(served.toolgate);
    const wanted = error(1, -32601, "Method not found: tools/nope");
    expect(await post(modernPost("tools/nope"))).toMatchObject(refused(404, wanted));
    expect(await post({ headers, body: legacy("tools/nope") })).toMatchObject(refused(200, wanted));
    // Each era has methods that the other has not.
    expect(await post(modernPost("ping"))).toMatchObject(
      refused(404, error(1, -32601, "Method not found: ping")),
    );
  });

  test.for(["ping", "tools/list"])("%s without a session asks for one", async (method) => {
    const message =
      "The Mcp-Session-Id header is missing. Call initialize first and send the id that it answers with.";
    expect(await post({ body: legacy(method, {}, 6) })).toMatchObject(
      refused(400, error(6, -32600, message)),
    );
  });

  test("a session that is not there is 404", async () => {
    const message =
      "Session not found: it has ended, or it was never opened here. Send initialize without Mcp-Session-Id to open one.";
    const headers = { "Mcp-Session-Id": crypto.randomUUID() };
    const wanted = refused(404, error(1, -32600, message));
    expect(await post({ headers, body: legacy("ping") })).toMatchObject(wanted);
    const ended = await openSession(served.toolgate);
    expect(await post({ method: "DELETE", headers: ended })).toMatchObject({ status: 204 });
    expect(await post({ headers: ended, body: legacy("ping") })).toMatchObject(wanted);
  });

  const how = 'Send the header "Authorization: Bearer <token>" with a token of this server.';
  test.for([
    [undefined, `This server wants a bearer token. ${how}`],
    ["Bearer wrong-wrong-wrong", `The token is not valid here. ${how}`],
    ["Basic dG9vbDpnYXRl", `The token is not valid here. ${how}`],
  ] as const)("%j as Authorization is 401", async ([Authorization, message]) => {
    const answer = await post({ ...modernPost("tools/list"), headers: { Authorization } });
    expect(answer).toMatchObject(refused(401, error(undefined, -32600, message)));
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
  });

  test("a foreign Host and a foreign Origin are 403, whatever the token", async () => {
    const host =
      'Host "evil.test" is not served here. If clients should use this name, add it to allowedHosts.';
    expect(await post({ headers: { Host: "evil.test" }, body: legacy("ping") })).toMatchObject(
      refused(403, error(undefined, -32600, host)),
    );
    const origin =
      'Origin "https://evil.test" may not call this server. If its pages should, add it to allowedOrigins.';
    const answer = await post({ headers: { Origin: "https://evil.test" }, body: legacy("ping") });
    expect(answer).toMatchObject(refused(403, error(undefined, -32600, origin)));
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test.for([undefined, "text/plain", "application/jsonp", "application/x-www-form-urlencoded"])(
    "%j as content type is 415",
    async (type) => {
      const answer = await post({ headers: { "Content-Type": type }, body: modern("tools/list") });
      const message = "Send the message with Content-Type: application/json.";
      expect(answer).toMatchObject(refused(415, error(undefined, -32600, message)));
    },
  );

  test("other methods and paths are 405 and 404", async () => {
    for (const method of ["GET", "DELETE", "PUT"]) {
      const answer = await post({ method });
      expect(answer).toMatchObject({ status: 405, json: { error: { code: -32600 } } });
      expect(answer.headers.allow).toBe("POST");
    }
    const message = "Nothing is served at /mcp/nope. Check the path of the URL.";
    expect(await post({ path: "/mcp/nope", body: modern("tools/list") })).toMatchObject(
      refused(404, error(undefined, -32600, message)),
    );
  });

  test("a modern request whose headers say something else than its body is refused", async () => {
    const { headers, body } = modernPost("tools/call", { name: "up__echo" });
    const refusal = (what: string) => refused(400, error(1, -32020, `Header mismatch: ${what}`));
    const withHeader = (change: Sent["headers"]) => post({ headers: { ...headers, ...change }, body });
    expect(await withHeader({ "Mcp-Name": "up__hang" })).toMatchObject(
      refusal('the Mcp-Name header says "up__hang", the body "up__echo"'),
    );
    expect(await withHeader({ "Mcp-Method": undefined })).toMatchObject(
      refusal("the Mcp-Method header is missing"),
    );
    expect(await withHeader({ "MCP-Protocol-Version": "2025-11-25" })).toMatchObject(
      refusal('the MCP-Protocol-Version header says "2025-11-25", the body "2026-07-28"'),
    );
  });

  test("a revision that is not spoken here is refused with those that are", async () => {
    const body = legacy("tools/list", {
      _meta: { "io.modelcontextprotocol/protocolVersion": "2099-01-01" },
    });
    const headers = { "MCP-Protocol-Version": "2099-01-01", "Mcp-Method": "tools/list" };
    const data = {
      requested: "2099-01-01",
      supported: ["2026-07-28"],
    };
    expect(await post({ headers, body })).toMatchObject({
      status: 400,
      json: { error: { code: -32022, data } },
    });
    const session = { ...(await openSession(served.toolgate)), "MCP-Protocol-Version": "2020-01-01" };
    expect(await post({ headers: session, body: legacy("ping") })).toMatchObject({ status: 400 });
  });

  test("an id that is in use in its session is refused, and free again after its answer", async () => {
    const { toolgate, witness } = served;
    const headers = await openSession(toolgate);
    const first = post({
      headers,
      body: legacy("tools/call", { name: "up__hang", arguments: { key: "a" } }, 9),
    });
    await witness.heard("up hang a");
    expect(await post({ headers, body: legacy("ping", {}, 9) })).toMatchObject(
      refused(400, error(9, -32600, "Request id 9 is in use")),
    );
    // Modern requests share no session, so their ids are their own.
    expect(await post(modernPost("tools/list", {}, 9))).toMatchObject({ status: 200 });
    await post({ headers, body: legacy("tools/call", { name: "up__release" }, 10) });
    expect(await first).toMatchObject({ status: 200, json: { id: 9 } });
    expect(await post({ headers, body: legacy("ping", {}, 9) })).toMatchObject({ status: 200 });
  });

  test("a call without an id is not run, gets no reply and one line in the log", async () => {
    const { toolgate, witness } = served;
    const headers = await openSession(toolgate);
    const { id: _, ...call } = legacy("tools/call", { name: "up__echo", arguments: { text: "silent" } });
    expect(await post({ headers, body: call })).toMatchObject({ status: 202, text: "" });
    const loud = legacy("tools/call", { name: "up__echo", arguments: { text: "loud" } });
    await post({ headers, body: loud });
    await witness.heard("up echo loud");
    expect(witness.lines).not.toContain("up echo silent");
    expect(toolgate.log().match(/tools\/call came without an id: it was not run/g)).toHaveLength(1);
  });

  test("bytes that are not HTTP end their connection and no other", async () => {
    const socket = connect(Number(new URL(served.toolgate.url).port), "127.0.0.1");
    socket.end("GARBAGE\r\n\r\n");
    const [chunk] = (await once(socket, "data")) as [Buffer];
    expect(chunk.toString()).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    socket.destroy();
    expect(await post(modernPost("tools/list"))).toMatchObject({ status: 200 });
  });

  test("a client that leaves in the middle of its message harms nobody", async () => {
    const half = open(served.toolgate, { headers: { "Content-Length": "100" }, body: "{" });
    half.abort();
    expect(await post(modernPost("tools/list"))).toMatchObject({ status: 200 });
  });
});

describe("over stdio", () => {
  async function session(toolgate: StdioProgram, version = "2025-11-25"): Promise<void> {
    await toolgate.ask(initialize(version));
    toolgate.send(initialized);
  }

  test("what cannot be read is answered, and the connection goes on", async ({ startStdioToolgate }) => {
    const toolgate = await startStdioToolgate({ config: config("mcp") });
    for (const line of unparsable)
      expect(await toolgate.ask(line)).toEqual(error(undefined, -32700, "Parse error"));
    for (const [line, id] of shapeless)
      expect(await toolgate.ask(line)).toEqual(error(id, -32600, "Invalid Request"));
    expect(await toolgate.ask(batch)).toEqual(error(undefined, -32600, "Invalid Request"));
    const message = `Message too large: the limit is ${limit} bytes`;
    expect(await toolgate.ask("x".repeat(200_000))).toEqual(error(undefined, -32600, message));
    expect(await toolgate.ask(legacy("ping", {}, 8))).toEqual({ jsonrpc: "2.0", id: 8, result: {} });
  });

  test("blank lines and a stray answer are skipped", async ({ startStdioToolgate }) => {
    const toolgate = await startStdioToolgate({ config: config("mcp") });
    toolgate.send("\n  \n\t\r");
    toolgate.send({ jsonrpc: "2.0", id: 5, result: {} });
    expect(await toolgate.ask(legacy("ping", {}, 8))).toEqual({ jsonrpc: "2.0", id: 8, result: {} });
  });

  test("before initialize only ping is answered, and modern requests", async ({ startStdioToolgate }) => {
    const toolgate = await startStdioToolgate({ config: config("mcp") });
    for (const method of ["tools/list", "tools/call", "logging/setLevel", "nope"])
      expect(await toolgate.ask(legacy(method, {}, 2))).toEqual(error(2, -32002, "Server not initialized"));
    expect(await toolgate.ask(legacy("ping", {}, 3))).toEqual({ jsonrpc: "2.0", id: 3, result: {} });
    expect(await toolgate.ask(modern("tools/list", {}, 4))).toMatchObject({ id: 4, result: { tools: {} } });
  });

  test("legacy and modern mistakes have their answers", async ({ startStdioToolgate }) => {
    const toolgate = await startStdioToolgate({ config: config("mcp") });
    await session(toolgate);
    for (const request of [legacy, modern]) {
      const ask = (method: string, params?: JsonObject) => toolgate.ask(request(method, params, 5));
      expect(await ask("tools/nope")).toEqual(error(5, -32601, "Method not found: tools/nope"));
      expect(await ask("tools/call", { name: "nope" })).toEqual(error(5, -32602, "Unknown tool: nope"));
      const nameless = error(5, -32602, "tools/call: params.name must be a string");
      expect(await ask("tools/call")).toEqual(nameless);
      expect(await ask("tools/call", badArguments)).toMatchObject({
        result: { isError: true, content: [{ type: "text", text: complaint }] },
      });
    }
    const meta = { _meta: { "io.modelcontextprotocol/protocolVersion": "2099-01-01" } };
    expect(await toolgate.ask(legacy("tools/list", meta))).toMatchObject({ error: { code: -32022 } });
  });

  test("batches are for revision 2025-03-26", async ({ startStdioToolgate }) => {
    const toolgate = await startStdioToolgate({ config: config("mcp") });
    await session(toolgate, "2025-03-26");
    expect(await toolgate.ask(batch)).toEqual([
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: 2, result: {} },
    ]);
  });

  test("an id in use is refused; a call without one is not run", async ({ startStdioToolgate, witness }) => {
    const mcpServers = { up: fixture(witness, "recorder.mjs", "up") };
    const toolgate = await startStdioToolgate({ config: { mcpServers } });
    for (const request of [legacy, modern]) {
      if (request === legacy) await session(toolgate);
      toolgate.send(request("tools/call", { name: "up__hang", arguments: { key: request.name } }, 9));
      await witness.heard(`up hang ${request.name}`);
      const again = request("tools/list", {}, 9);
      expect(await toolgate.ask(again)).toEqual(error(9, -32600, "Request id 9 is in use"));
      const { id: _, ...call } = request("tools/call", { name: "up__echo", arguments: { text: "silent" } });
      toolgate.send(call);
      toolgate.send(request("tools/call", { name: "up__release" }, 10));
      const answers = [await toolgate.answer(), await toolgate.answer()];
      expect(new Set(answers.map(({ id }) => id))).toEqual(new Set([9, 10]));
    }
    expect(witness.lines.filter((line) => line.startsWith("up echo"))).toEqual([]);
    // The log comes by another pipe than the answers.
    const complaint = /tools\/call came without an id: it was not run/g;
    await waitUntil(() => toolgate.log().match(complaint)?.length === 2, "it complains of each");
  });
});

interface Differences {
  readonly dialect: string;
  readonly parseError: JsonObject;
  readonly noRequest: JsonObject;
  readonly unknownTool: JsonObject;
  readonly earlyPing: JsonObject;
}

const dialects: readonly Differences[] = [
  {
    dialect: "nvim",
    parseError: error(null, -32700, "Parse error"),
    noRequest: error(null, -32600, "Invalid Request"),
    unknownTool: error(3, -32601, "Tool not found: up__nope"),
    earlyPing: { jsonrpc: "2.0", id: 2, result: {} },
  },
  {
    dialect: "clawft",
    parseError: error(null, -32600, "Parse error"),
    noRequest: error(null, -32600, "Invalid Request"),
    unknownTool: {
      jsonrpc: "2.0",
      id: 3,
      result: { content: [{ type: "text", text: "Unknown tool: up__nope" }], isError: true },
    },
    earlyPing: error(2, -32002, "Server not initialized"),
  },
];

describe.for(dialects)(
  "the dialect $dialect",
  ({ dialect, parseError, noRequest, unknownTool, earlyPing }) => {
    const call = { name: "up__nope" };

    test("over stdio", async ({ startStdioToolgate }) => {
      const toolgate = await startStdioToolgate({ config: config(dialect) });
      expect(await toolgate.ask("{")).toEqual(parseError);
      expect(await toolgate.ask("{}")).toEqual(noRequest);
      // Where an id can be read, it is the same in all dialects.
      expect(await toolgate.ask('{"id":7}')).toEqual(error(7, -32600, "Invalid Request"));
      expect(await toolgate.ask(legacy("ping", {}, 2))).toEqual(earlyPing);
      expect(await toolgate.ask(legacy("tools/list"))).toEqual(error(1, -32002, "Server not initialized"));
      await toolgate.ask(initialize());
      toolgate.send(initialized);
      expect(await toolgate.ask(legacy("tools/call", call, 3))).toEqual(unknownTool);
      expect(await toolgate.ask(modern("tools/call", call, 3))).toMatchObject(unknownTool);
    });

    describe("over HTTP", () => {
      const served = serveHttp(dialect);
      test("differs in the same", async () => {
        const { toolgate } = served;
        expect(await http(toolgate, { body: "{" })).toMatchObject({ status: 400, json: parseError });
        expect(await http(toolgate, { body: "{}" })).toMatchObject({ status: 400, json: noRequest });
        expect(await http(toolgate, modernPost("tools/call", call, 3))).toMatchObject({ json: unknownTool });
        const headers = await openSession(toolgate);
        const answer = await http(toolgate, { headers, body: legacy("tools/call", call, 3) });
        expect(answer.json).toEqual(unknownTool);
      });
    });
  },
);

describe("on the command line", () => {
  /** What a person gets to see has no stack trace. */
  const clean = (ended: Ended): Ended => {
    expect(ended.stderr).not.toContain("    at ");
    expect(ended.stdout).not.toContain("    at ");
    return ended;
  };

  test("a typo in the configuration is told with its place and what was meant", async ({ folder }) => {
    const options = { config: { mcpServers: { fs: { comand: "node" } }, limitz: {} } };
    const ended = clean(await runProgram(await toolgateCommand(folder, ["serve"], options)));
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    const file = join(folder, "toolgate.test.json");
    expect(ended.stderr).toBe(
      [
        "error The configuration cannot be used:",
        `${file}:1:21: mcpServers.fs: needs a "command" that starts a server, or the "url" where one is served. It has "comand" (did you mean "command"?).`,
        `${file}:1:40: limitz: is not a known key. Did you mean "limits"?`,
        "",
      ].join("\n"),
    );
  });

  test("a configuration that is not there, or no JSON, is told", async ({ folder }) => {
    const tools = async () =>
      clean(await runProgram(await toolgateCommand(folder, ["tools", "--config", "mine.json"])));
    const file = join(folder, "mine.json");
    const told = (problem: string) => ({
      code: 2,
      stdout: "",
      stderr: `error The configuration cannot be used:\n${file}${problem}\n`,
    });
    expect(await tools()).toEqual(told(": There is no such file. Check the path that --config names."));
    await writeFile(file, '{\n  "limits": {}\n  "tools": {}\n}');
    const words = "a comma is expected here, or the number before it starts with a 0.";
    expect(await tools()).toEqual(told(`:3:3: This is no JSON: ${words}`));
  });

  test("an upstream whose command is missing is named, and the others work", async ({ folder, witness }) => {
    const options = {
      config: {
        mcpServers: {
          gone: { command: "no-such-command-here" },
          up: fixture(witness, "recorder.mjs", "up"),
        },
      },
    };
    const run = async (...args: string[]) =>
      clean(await runProgram(await toolgateCommand(folder, args, options)));
    const why =
      /^failed +gone: Upstream "gone" could not be connected: Cannot start "no-such-command-here": command not found\. Check "command" and the PATH that it gets\..*\n$/;
    const listed = await run("tools");
    expect(listed).toMatchObject({ code: 3, stderr: expect.stringMatching(why) });
    expect(listed.stdout).toContain("up__echo");
    expect(await run("call", "up__echo", '{"text":"hello"}')).toEqual({
      code: 0,
      stdout: "hello\n",
      stderr: "",
    });
    expect(await run("call", "gone__echo")).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^Upstream "gone" could not be connected: /),
    });
    expect(await run("doctor")).toMatchObject({ code: 3, stdout: expect.stringContaining("failed   gone") });
  });

  test("a port in use is told with what to do", async ({ folder }) => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    try {
      const { port } = taken.address() as AddressInfo;
      const command = await toolgateCommand(folder, ["serve", "--http", String(port)]);
      const { code, stderr } = clean(await runProgram(command));
      expect(code).toBe(2);
      expect(stderr).toContain(
        `error Port ${port} on 127.0.0.1 is in use. Stop the other program or choose another port with --http.\n`,
      );
    } finally {
      taken.close();
    }
  });

  test("a current folder that was removed is told", async ({ folder }) => {
    const { command, args, env, cwd } = await toolgateCommand(folder, ["tools"]);
    const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
    const gone = { command: "/bin/sh", args: ["-c", script, "sh", command, ...args], env, cwd };
    expect(clean(await runProgram(gone))).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("error The current folder is not there any more."),
    });
  });

  test.for([
    [["serve", "--htpt", "1"], 'error There is no flag --htpt. Did you mean "--http"?'],
    [["serve", "--http", "99999"], "error --http 99999: must be a port from 0 to 65535"],
    [
      ["serve", "--http", "0.0.0.0:80"],
      "error --http 0.0.0.0:80: names an address that other machines can reach",
    ],
    [["serv"], 'error There is no command "serv". Did you mean "serve"?'],
    [["call"], "error Name the tool to call."],
    [["call", "builtin__file_read", "{path: 1}"], "error The arguments are no JSON: "],
    [["call", "builtin__file_read", "[]"], "error The arguments must be a JSON object"],
    [
      ["call", "builtin__file_reed"],
      'error Unknown tool: builtin__file_reed. Did you mean "builtin__file_read"?',
    ],
  ] as const)("toolgate %j ends with 2 and one line that says why", async ([args, why], { folder }) => {
    const { code, stdout, stderr } = clean(await runProgram(await toolgateCommand(folder, args)));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    const [first, second = "", ...rest] = stderr.trimEnd().split("\n");
    expect(first).toContain(why);
    // A second one may say where to read on.
    expect(second).toMatch(/^$|^"toolgate help( \w+)?" explains the usage\.$/);
    expect(rest).toEqual([]);
  });
});

describe.runIf(existsSync("/dev/full"))("a disk that is full", () => {
  test("is no success", async ({ folder }) => {
    const { command, args, env, cwd } = await toolgateCommand(folder, ["tools"]);
    const script = 'exec "$@" > /dev/full';
    const full = { command: "/bin/sh", args: ["-c", script, "sh", command, ...args], env, cwd };
    expect(await runProgram(full)).toMatchObject({ code: 3 });
  });
});
