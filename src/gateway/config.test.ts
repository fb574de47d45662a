import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigError, defaultConfig, loadConfig, parseConfig, type ParsedConfig } from "./config.ts";
import { defaultLimits } from "./configLimits.ts";

const file = "/etc/toolgate.json";

function parse(value: unknown, env: Record<string, string> = {}): ParsedConfig {
  return parseConfig(typeof value === "string" ? value : JSON.stringify(value), { file, env });
}

function problemsOf(value: unknown, env: Record<string, string> = {}): ConfigError["problems"] {
  try {
    parse(value, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  throw new Error("the configuration was taken");
}

/** The one problem, as `path: message`. */
function problemOf(value: unknown, env: Record<string, string> = {}): string {
  const problems = problemsOf(value, env);
  expect(problems).toHaveLength(1);
  return `${problems[0]!.path}: ${problems[0]!.message}`;
}

const server = (entry: object): object => ({ mcpServers: { fs: entry } });

describe("a whole configuration", () => {
  test("is read, with defaults for what it leaves out", () => {
    const { config, notes } = parse(
      `{
        // JSON with comments
        "mcpServers": {
          "fs": { "command": "npx", "args": ["-y", "server", ""], "env": { "KEY": "\${env:SECRET}" }, "cwd": "work" },
          "web": { "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer \${env:SECRET}" },
                   "timeoutMs": 5000, "startTimeoutMs": 100, "validateArguments": true, "isolation": "principal", },
        },
        "tools": { "file": { "readLimitBytes": 10 }, "workspace": ".." },
        "listen": { "http": "localhost:8080", "dialect": "nvim", "allowedHosts": ["gate.test"], "allowedOrigins": ["https://gate.test"] },
        "principals": { "ada": { "token": "0123456789abcdef" } },
        "limits": { "callsRunning": 3, "resultTextBytes": 1000 },
        "instructions": "Use it well.",
      }`,
      { SECRET: "s3cret" },
    );
    expect(notes).toEqual([]);
    expect(config).toEqual({
      upstreams: [
        {
          kind: "stdio",
          key: "fs",
          namespace: "fs",
          command: "npx",
          args: ["-y", "server", ""],
          env: { KEY: "s3cret" },
          cwd: "/etc/work",
          validateArguments: false,
          isolation: "shared",
        },
        {
          kind: "http",
          key: "web",
          namespace: "web",
          url: "https://example.com/mcp",
          headers: { Authorization: "Bearer s3cret" },
          timeoutMs: 5000,
          startTimeoutMs: 100,
          validateArguments: true,
          isolation: "principal",
        },
      ],
      tools: { workspace: "/", file: { readLimitBytes: 10 } },
      listen: {
        http: { host: "localhost", port: 8080 },
        stdio: false,
        sse: false,
        dialect: "nvim",
        allowedHosts: ["gate.test"],
        allowedOrigins: ["https://gate.test"],
      },
      principals: [{ name: "ada", token: "0123456789abcdef" }],
      limits: { ...defaultLimits, callsRunning: 3, resultTextBytes: 1000 },
      instructions: "Use it well.",
    });
  });

  test("that is empty serves nothing on the default address", () => {
    const { config } = parse("{}");
    expect(config).toMatchObject({ upstreams: [], principals: [], limits: defaultLimits });
    expect(config.tools).toBeUndefined();
    expect(config.listen.http).toEqual({ host: "127.0.0.1", port: 7070 });
  });

  test("may start with a byte order mark", () => {
    expect(parse("\uFEFF{}").config.upstreams).toEqual([]);
  });

  test("shows every mistake at once, each with its place, its path and what to do", () => {
    const text = `{
  "mcpServer": {},
  "mcpServers": {
    "fs": { "command": "", "args": [1] }
  },
  "listen": { "http": 70000 },
  "limits": { "callsRunning": 0.5 }
}`;
    expect(() => parse(text)).toThrow(
      new ConfigError(file, [
        { path: "mcpServer", line: 2, column: 3, message: 'is not a known key. Did you mean "mcpServers"?' },
        { path: "mcpServers.fs.command", line: 4, column: 24, message: "must not be empty." },
        { path: "mcpServers.fs.args[0]", line: 4, column: 37, message: "must be a string, not a number." },
        {
          path: "listen.http",
          line: 6,
          column: 23,
          message: 'must be a port from 0 to 65535, or "host:port", as 7070 or "127.0.0.1:7070".',
        },
        {
          path: "limits.callsRunning",
          line: 7,
          column: 31,
          message: "must be a whole number from 1 to 1000000.",
        },
      ]),
    );
  });

  test("prints as one line a problem", () => {
    const error = new ConfigError(file, problemsOf('{\n "tools": 1,\n "limits": [] }'));
    expect(error.message).toBe(
      "/etc/toolgate.json:2:11: tools: must be an object, not a number.\n" +
        "/etc/toolgate.json:3:12: limits: must be an object, not an array.",
    );
  });
});

describe("text that is no JSON", () => {
  test.each([
    ["", 0, 0, /empty/],
    ["  // nothing\n", 2, 1, /value is expected/],
    ["{ tools: 1 }", 1, 3, /double quotes/],
    ['{ "tools" 1 }', 1, 11, /colon/],
    ['{ "a": 1 "b": 2 }', 1, 10, /comma/],
    ["{} x", 1, 4, /no meaning/],
    ['{\r\n"a": "open\r\n}', 2, 6, /closing quote/],
  ])("%j is a problem at its place", (text, line, column, message) => {
    expect(problemsOf(text)[0]).toMatchObject({
      path: "",
      line,
      column,
      message: expect.stringMatching(message),
    });
  });

  test("nested without end is a problem, not a stack overflow", () => {
    expect(problemOf("[".repeat(300_000))).toMatch(/nested too deeply/);
  });

  test("a key given twice is a mistake", () => {
    expect(problemOf('{ "tools": {}, "tools": {} }')).toMatch(/^tools: is given twice/);
  });
});

describe("an unknown key", () => {
  test.each([
    [{ polici: {} }, "polici: is not a known key."],
    [{ policy: {} }, "policy: is not a known key."],
    [{ skills: {} }, "skills: is not a known key."],
    [{ store: {} }, "store: is not a known key."],
    [{ sandbox: {} }, "sandbox: is not a known key."],
    [{ tools: { bash: true } }, "tools.bash: is not a known key. Known here: file, workspace."],
    [{ listen: { htpp: 1 } }, 'listen.htpp: is not a known key. Did you mean "http"?'],
    [
      { limits: { messagebytes: 1 } },
      'limits.messagebytes: is not a known key. Did you mean "messageBytes"?',
    ],
    [
      { principals: { ada: { token: "0123456789abcdef", tokens: 1 } } },
      "principals.ada.tokens: is not a known key",
    ],
    [{ tools: { file: { limit: 1 } } }, "tools.file.limit: is not a known key."],
  ])("%j is an error", (value, message) => {
    expect(problemOf(value)).toContain(message);
  });

  test.each([{ command: "a" }, { url: "http://a" }])("that holds %j looks like a server", (entry) => {
    expect(problemOf({ tool: entry })).toBe(
      'tool: is not a known key. It looks like a server: put it into "mcpServers".',
    );
  });

  test("that is no plain word is quoted in its path", () => {
    expect(problemOf({ 'a "b"': 1 })).toContain('["a \\"b\\""]: is not a known key.');
    expect(problemOf('{ "__proto__": { "x": "x" } }')).toContain("__proto__: is not a known key");
  });
});

describe("an entry of mcpServers", () => {
  test("keeps working with the fields of other programs: understood, or named in one warning", () => {
    const { config, notes } = parse({
      mcpServers: {
        a: { type: "stdio", command: "a", autoApprove: [], description: "A" },
        b: { type: "streamableHttp", url: "http://b/", disabled: false, timeout: 60, arg: [] },
        c: { type: "streamable-http", url: "http://c/", enabled: true },
        d: { type: "http", url: "http://d/" },
      },
    });
    expect(config.upstreams.map(({ key }) => key)).toEqual(["a", "b", "c", "d"]);
    expect(notes).toEqual([
      {
        level: "warning",
        message:
          "Fields of servers that Toolgate does not know are ignored: " +
          'a.autoApprove, a.description, b.timeout (did you mean "timeoutMs"?), b.arg (did you mean "args"?).',
      },
    ]);
  });

  test("that is switched off is left out, even if it could not start", () => {
    const off = { disabled: true, command: "x", env: { KEY: "${env:MISSING}" } };
    expect(
      parse({ mcpServers: { a: off, b: { enabled: false, url: "nonsense" } } }).config.upstreams,
    ).toEqual([]);
  });

  test.each([
    [{}, 'needs a "command"'],
    [{ comand: "a" }, 'It has "comand" (did you mean "command"?).'],
    [{ command: "a", url: "http://b" }, 'both "command" and "url"'],
    [{ command: "a", headers: {} }, "headers: belongs to a server with a"],
    [{ url: "http://b", args: [] }, "args: belongs to a server with a"],
    [{ type: "sse", command: "a" }, 'must be "stdio"'],
    [{ url: "http://b", httpUrl: "http://c" }, 'httpUrl: is another word for "url"'],
    [{ serverUrl: "b" }, "serverUrl: must be a whole URL"],
    [{ command: "~/bin/a" }, '"~" is not expanded: write ${env:HOME}/...'],
    [{ command: "a", cwd: "~" }, '"~" is not expanded'],
    [{ type: "http", command: "a" }, 'must be "stdio"'],
    [{ type: "stdio", url: "http://b" }, 'must be "http"'],
    [{ disabled: "yes", command: "a" }, "disabled: must be true or false"],
    [{ command: "a\0" }, "must not hold a NUL"],
    [{ command: "a", env: { KEY: 8080 } }, "env.KEY: must be a string, not a number"],
    [{ command: "a", env: { "A=B": "" } }, "cannot be used here"],
    [{ command: "a", args: "-y" }, "args: must be an array, not a string"],
    [{ command: "a", timeoutMs: 0 }, "timeoutMs: must be a whole number from 1"],
    [{ url: "b.com/mcp" }, "must be a whole URL"],
    [{ url: "ftp://b" }, 'must be a whole URL that starts with "http://"'],
    [{ type: "http", url: "ws://b" }, 'type: must be "ws" for this URL'],
    [{ type: "ws", url: "http://b" }, 'must be "http" or "streamable-http"'],
    [{ type: "sse", url: "tcp://b:1" }, 'type: must be "tcp" for this URL'],
    [{ url: "tcp://b" }, 'must be a host and a port, as "tcp://127.0.0.1:7071"'],
    [{ url: "tcp://b:1/mcp" }, "must be a host and a port"],
    [{ url: "tcp://b:1", headers: { A: "b" } }, 'headers: can hold only "Authorization"'],
    [{ url: "tcp://b:1", headers: { Authorization: "Basic b" } }, 'can hold only "Authorization"'],
    [{ url: "unix:b.sock" }, 'must be "unix:" and an absolute path'],
    [{ url: "unix://b/c" }, 'must be "unix:" and an absolute path'],
    [{ url: "unix:/b", headers: { A: "b" } }, "cannot be sent over a Unix socket"],
    [{ url: "ws://b", oauth: {} }, "oauth: works over HTTP only"],
    [{ command: "a", oauth: {} }, "oauth: belongs to a server with a"],
    [{ url: "http://b", oauth: { clientID: "a" } }, 'Did you mean "clientId"?'],
    [{ url: "http://b", oauth: { scope: "" } }, "oauth.scope: must not be empty"],
    [{ url: "http://b", oauth: { clientSecret: "s" } }, 'oauth.clientSecret: needs the "clientId"'],
    [
      { url: "http://b", oauth: { clientMetadataUrl: "https://b" } },
      'must be an "https://" address with a path',
    ],
    [{ url: "http://b", headers: { authorization: "a" }, oauth: {} }, "oauth: has no effect beside"],
    [{ command: "a", isolation: "none" }, 'isolation: must be one of "shared", "principal"'],
    [{ url: "https://user:pass@b" }, "must not hold a user name or a password"],
    [{ url: "http://b", headers: { "a b": "" } }, "cannot be used here"],
    [{ url: "http://b", headers: { a: "x\ny" } }, "such as a line break"],
    [null, "must be an object, not null"],
  ])("%j is refused", (entry, message) => {
    expect(problemOf(server(entry as object))).toContain(message);
  });

  test.each([
    [
      { url: "wss://b/mcp", type: "ws", headers: { A: "b" } },
      { scheme: "ws", url: "wss://b/mcp", headers: { A: "b" } },
    ],
    [{ url: "ws://[::1]:1" }, { scheme: "ws", url: "ws://[::1]:1", headers: {} }],
    [
      { url: "tcp://b:1", type: "tcp" },
      { scheme: "tcp", host: "b", port: 1 },
    ],
    [
      { url: "tcp://[::1]:71", headers: { authorization: "bearer ${TOKEN}" } },
      { scheme: "tcp", host: "::1", port: 71, token: "t0ken" },
    ],
    [
      { url: "tcp://b:1", headers: { Authorization: "${NONE:-}" } },
      { scheme: "tcp", host: "b", port: 1 },
    ],
    [
      { url: "unix:/run/a b.sock", type: "unix" },
      { scheme: "unix", path: "/run/a b.sock" },
    ],
    [{ url: "unix:///run/b.sock" }, { scheme: "unix", path: "/run/b.sock" }],
  ])("%j is reached by a connection that stays", (entry, target) => {
    const { config } = parse(server(entry), { TOKEN: "t0ken" });
    expect(config.upstreams).toEqual([
      { kind: "socket", key: "fs", namespace: "fs", validateArguments: false, isolation: "shared", target },
    ]);
  });

  test("may speak HTTP+SSE, and may be known to an authorization server", () => {
    const oauth = {
      clientId: "me",
      clientSecret: "${SECRET}",
      clientMetadataUrl: "https://me.test/client.json",
      scope: "a b",
    };
    const { config } = parse(
      { mcpServers: { old: { type: "sse", url: "http://b/sse" }, web: { url: "http://b/mcp", oauth } } },
      { SECRET: "s3cret" },
    );
    expect(config.upstreams).toMatchObject([
      { kind: "http", url: "http://b/sse", sse: true },
      { kind: "http", url: "http://b/mcp", oauth: { ...oauth, clientSecret: "s3cret" } },
    ]);
    expect(config.upstreams[1]).not.toHaveProperty("sse");
  });

  test.each(["httpUrl", "serverUrl"])("may say %s for url", (name) => {
    const { config, notes } = parse(server({ [name]: "http://b/mcp" }));
    expect(config.upstreams).toMatchObject([{ kind: "http", url: "http://b/mcp" }]);
    expect(notes).toEqual([]);
  });

  test.each([
    [
      { url: "http://b", headers: { Authorization: "Bearer ${TOKEN}", B: "${env:TOKEN}" } },
      'the environment variable TOKEN is not set. Set it, or set "disabled": true.',
    ],
    [
      { command: "${A}", args: ["${B}"], cwd: "${env:C}" },
      'the environment variables A, B, C are not set. Set them, or set "disabled": true.',
    ],
    [{ type: "ws", url: "${URL}" }, expect.stringContaining("URL is not set")],
    [
      { url: "tcp://b:1", headers: { Authorization: "Bearer ${TOKEN}" } },
      expect.stringContaining("TOKEN is not set"),
    ],
    [
      { url: "http://b", oauth: { clientId: "a", clientSecret: "${env:SECRET}" } },
      expect.stringContaining("SECRET is not set"),
    ],
    [{ type: "${T}", url: "http://b" }, expect.stringContaining("T is not set")],
  ])("%j fails alone, and the others work", (entry, reason: unknown) => {
    const { config } = parse({ mcpServers: { "a b": entry, good: { command: "a" } } });
    expect(config.upstreams).toEqual([
      { kind: "broken", key: "a b", namespace: expect.stringMatching(/^a_b-/), reason },
      expect.objectContaining({ kind: "stdio", key: "good" }),
    ]);
  });

  test("that fails alone still has its mistakes reported", () => {
    expect(problemOf(server({ command: "${NOPE}", args: [1] }))).toContain("args[0]: must be a string");
  });

  test("whose name is no namespace gets one, and the start says so", () => {
    const { config, notes } = parse({ mcpServers: { "my server": { command: "a" } } });
    expect(config.upstreams[0]).toMatchObject({ key: "my server" });
    const { namespace } = config.upstreams[0]!;
    expect(namespace).toMatch(/^my_server-[0-9a-f]{8}$/);
    expect(notes).toMatchObject([
      { level: "notice", message: expect.stringContaining(`"my server" has the namespace "${namespace}"`) },
    ]);
  });

  test("cannot take the namespace of another, or of the built-in tools", () => {
    const { namespace } = parse({ mcpServers: { "my server": { command: "a" } } }).config.upstreams[0]!;
    const both = { mcpServers: { "my server": { command: "a" }, [namespace]: { command: "b" } } };
    expect(problemOf(both)).toContain(`has the same namespace "${namespace}" as the server "my server"`);
    const builtin = { mcpServers: { builtin: { command: "a" } } };
    expect(problemOf({ ...builtin, tools: { file: true } })).toContain(
      "is the namespace of the built-in tools",
    );
    expect(parse(builtin).config.upstreams).toHaveLength(1);
  });

  test("may come from an mcp.json of VS Code", () => {
    const { config, notes } = parse({ servers: { fs: { command: "a" } }, inputs: [{ id: "key" }] });
    expect(config.upstreams).toHaveLength(1);
    expect(notes).toMatchObject([
      { level: "warning", message: expect.stringContaining('"inputs" is ignored') },
    ]);
    expect(problemOf({ servers: {}, mcpServers: {} })).toMatch(/^servers: stands beside "mcpServers"/);
  });
});

describe("a variable", () => {
  test("that is not set is an error that names the path and the variable, where no server needs it", () => {
    expect(problemOf({ instructions: "x${env:NOPE}" })).toBe(
      "instructions: the environment variable NOPE is not set. Set it, or write ${NOPE:-default}.",
    );
    expect(problemOf(server({ command: "${env:}" }))).toContain("names no variable");
    expect(problemOf({ instructions: "${env:constructor}" })).toContain("constructor is not set");
  });

  test("may be written as Claude Code does, with a default where it is not set", () => {
    const args = ["${A}", "${B:-b:-c}", "${A:-b}", "-${B:-}-", "${env:A}${A}"];
    const { config } = parse(server({ command: "a", args }), { A: "1" });
    expect(config.upstreams[0]).toMatchObject({ args: ["1", "b:-c", "1", "--", "11"] });
  });

  test("is replaced once: what its value looks like does not matter", () => {
    const { config } = parse(server({ command: "${env:A}${env:B}" }), { A: "${env:B}$&", B: "" });
    expect(config.upstreams[0]).toMatchObject({ command: "${env:B}$&" });
  });

  test("of VS Code that Toolgate cannot know is an error that says what to write", () => {
    expect(problemOf(server({ command: "a", args: ["${input:key}"] }))).toContain("write ${env:NAME}");
    expect(problemOf(server({ command: "${workspaceFolder}/a" }))).toContain("may be relative to this file");
    expect(problemOf(server({ command: "${userHome}/a" }))).toContain("Write ${env:HOME}.");
    expect(problemOf(server({ command: "a${pathSeparator}b" }))).toContain('Write "/".');
  });

  test.each(["${}", "${1}", "${A-b}", "${config:a.b}", "${env:A:-b}", "${A%/*}"])(
    "%s is refused, with what to write",
    (text) => {
      expect(problemOf(server({ command: text }), { A: "1" })).toContain(
        `"${text}" is not understood. For an environment variable write \${NAME} or \${NAME:-default}.`,
      );
    },
  );

  test("of a shell without braces is left alone", () => {
    const { config } = parse(server({ command: "sh", args: ["-c", "echo $HOME ~/a $(b) ${"] }));
    expect(config.upstreams[0]).toMatchObject({ args: ["-c", "echo $HOME ~/a $(b) ${"] });
  });

  test("never has its value printed, whatever is wrong with it", () => {
    const env = { SECRET: "tcpx:s3cret\n" };
    const text = "${env:SECRET}";
    const config = {
      mcpServers: {
        a: { url: text },
        b: { url: "http://b", headers: { a: text } },
        c: { type: text, command: "c" },
      },
      listen: { http: text, dialect: text, allowedOrigins: [text] },
      principals: { ada: { token: text } },
    };
    const problems = problemsOf(config, env);
    expect(problems).toHaveLength(7);
    expect(JSON.stringify(problems)).not.toContain("s3cret");
  });
});

describe("tools", () => {
  test("are served only when they are named", () => {
    expect(parse({ tools: { file: true } }).config.tools).toEqual({
      workspace: "/etc",
      file: { readLimitBytes: 102_400 },
    });
    for (const tools of [{}, { file: false }]) expect(parse({ tools }).config.tools).toBeUndefined();
  });

  test.each([
    [{ workspace: "." }, "tools.workspace: has no effect"],
    [{ file: 1 }, "tools.file: must be true, false, or an object"],
    [{ file: { readLimitBytes: -1 } }, "tools.file.readLimitBytes: must be a whole number from 1"],
    [{ file: true, workspace: "~/a" }, 'tools.workspace: "~" is not expanded'],
    [{ file: true, workspace: "" }, "tools.workspace: must not be empty"],
  ])("%j is refused", (tools, message) => {
    expect(problemOf({ tools })).toContain(message);
  });
});

describe("listen", () => {
  const listen = (value: object): ParsedConfig["config"]["listen"] => parse({ listen: value }).config.listen;

  test("takes a port, an address, or false", () => {
    expect(listen({ http: 0 }).http).toEqual({ host: "127.0.0.1", port: 0 });
    expect(listen({ http: "[::1]:65535" }).http).toEqual({ host: "::1", port: 65_535 });
    expect(listen({ http: false }).http).toBeUndefined();
    expect(parse({ listen: { http: "${env:PORT}" } }, { PORT: "8080" }).config.listen.http?.port).toBe(8080);
  });

  test("takes addresses for TCP and WebSocket, and a path for a Unix socket", () => {
    expect(listen({ tcp: 1, ws: "localhost:2", unix: "run/gate.sock" })).toMatchObject({
      tcp: { host: "127.0.0.1", port: 1 },
      ws: { host: "localhost", port: 2 },
      unix: "/etc/run/gate.sock",
    });
    expect(listen({ tcp: false, ws: false, unix: "/gate.sock" })).toMatchObject({ unix: "/gate.sock" });
    for (const door of [{ tcp: 1 }, { ws: 1 }, { unix: "a" }]) expect(listen(door).http).toBeUndefined();
    expect(listen({ tcp: 1, http: 2 }).http?.port).toBe(2);
    expect(problemOf({ listen: { tcp: "0.0.0.0:1" } })).toMatch(/^listen\.tcp: names an address that other/);
    expect(problemOf({ listen: { ws: true } })).toMatch(/^listen\.ws: must be a port, "host:port"/);
    expect(problemOf({ listen: { unix: 1 } })).toMatch(/^listen\.unix: must be a string/);
  });

  test("takes HTTP+SSE beside HTTP, and only there", () => {
    expect(listen({ sse: true })).toMatchObject({ sse: true, http: { port: 7070 } });
    expect(problemOf({ listen: { sse: true, tcp: 1 } })).toMatch(/^listen\.sse: is about HTTP, and no HTTP/);
  });

  test("on standard input alone opens no port, and both may be named", () => {
    expect(listen({ stdio: true })).toMatchObject({ stdio: true });
    expect(listen({ stdio: true }).http).toBeUndefined();
    expect(listen({ stdio: true, http: 1 }).http?.port).toBe(1);
  });

  test.each(["0.0.0.0:7070", "[::]:7070", "192.168.0.1:80", "example.com:80", "127.0.0.1.example.com:80"])(
    "refuses %s, which others can reach, and says why",
    (http) => {
      expect(problemOf({ listen: { http } })).toContain(
        "a policy is needed for that, and this version has none",
      );
    },
  );

  test.each([-1, 65_536, 1.5, "x", "host:", ":80", "[::1]80", "1.2.3.4:99999", "a:b:1", true, null])(
    "refuses %j",
    (http) => {
      expect(problemOf({ listen: { http } })).toMatch(/^listen\.http: must be a port/);
    },
  );

  test("knows three dialects, what an origin is and what a host is", () => {
    expect(problemOf({ listen: { dialect: "vim" } })).toContain('must be one of "mcp", "nvim", "clawft"');
    expect(problemOf({ listen: { allowedOrigins: ["https://a.test/"] } })).toContain(
      "allowedOrigins[0]: must be an origin",
    );
    expect(problemOf({ listen: { allowedHosts: ["http://a.test"] } })).toContain(
      "allowedHosts[0]: must be a host",
    );
    const names = { allowedHosts: ["a.test:1", "[::1]"], allowedOrigins: ["moz-extension://0f9e"] };
    expect(listen(names)).toMatchObject(names);
  });
});

describe("principals", () => {
  const token = "0123456789abcdef";
  test.each([
    [{ ada: {} }, 'principals.ada: needs a "token"'],
    [{ ada: { token: "short" } }, "principals.ada.token: must be at least 16 characters"],
    [{ local: { token } }, "that is the person at this machine"],
    [{ "": { token } }, "Choose another name"],
    [{ ada: { token }, bob: { token } }, 'principals.bob.token: is the same as that of "ada"'],
  ])("%j are refused", (principals, message) => {
    expect(problemOf({ principals })).toContain(message);
  });
});

describe("limits", () => {
  test.each(Object.keys(defaultLimits))("%s takes a whole number in its range only", (name) => {
    for (const value of [-1, 0.5, 1e300, "1", null])
      expect(problemOf({ limits: { [name]: value } })).toContain(`limits.${name}: must be a`);
  });

  test("a call may not take longer than the longest call", () => {
    expect(problemOf({ limits: { callTimeoutMs: 700_000 } })).toContain(
      "must not be larger than callTimeoutMaxMs (600000)",
    );
    expect(problemOf({ limits: { callTimeoutMaxMs: 10 } })).toContain(
      "limits.callTimeoutMaxMs: callTimeoutMs (60000)",
    );
    expect(parse({ limits: { callTimeoutMs: 7e5, callTimeoutMaxMs: 7e5 } }).config.limits.callTimeoutMs).toBe(
      7e5,
    );
  });
});

describe("whatever the text", () => {
  const takenOrRefused = (text: string): boolean => {
    try {
      parse(text);
      return true;
    } catch (error) {
      return error instanceof ConfigError && error.problems.every(({ message }) => message !== "");
    }
  };

  test("it is taken or refused with a ConfigError", () => {
    const text = fc.oneof(fc.string({ unit: "binary-ascii" }), fc.json());
    expect(() => fc.assert(fc.property(text, takenOrRefused), { numRuns: 300 })).not.toThrow();
  });

  test("so is any configuration of the right shape with any values in it", () => {
    const any = fc.jsonValue({ maxDepth: 2 });
    const some = (keys: readonly string[]): fc.Arbitrary<unknown> =>
      fc.oneof(any, fc.dictionary(fc.constantFrom(...keys), any));
    const entry = some([
      "command",
      "args",
      "env",
      "cwd",
      "url",
      "headers",
      "oauth",
      "type",
      "disabled",
      "timeoutMs",
      "isolation",
      "x",
    ]);
    const config = fc.record(
      {
        mcpServers: fc.dictionary(fc.string(), entry),
        tools: some(["file", "workspace"]),
        listen: some(["http", "tcp", "unix", "ws", "stdio", "dialect", "allowedHosts", "allowedOrigins"]),
        principals: fc.dictionary(fc.string(), some(["token"])),
        limits: some(Object.keys(defaultLimits)),
        instructions: any,
      },
      { requiredKeys: [] },
    );
    const property = fc.property(config, (value) => takenOrRefused(JSON.stringify(value)));
    expect(() => fc.assert(property)).not.toThrow();
  });

  test("so is any address", () => {
    const scheme = fc.constantFrom("http:", "https:", "ws:", "wss:", "tcp:", "unix:");
    const rest = fc.oneof(fc.string(), fc.webPath(), fc.webAuthority({ withPort: true }));
    const address = fc.tuple(scheme, fc.constantFrom("", "/", "//", "///"), rest);
    const property = fc.property(address, (parts) =>
      takenOrRefused(JSON.stringify(server({ url: parts.join("") }))),
    );
    expect(() => fc.assert(property)).not.toThrow();
  });
});

describe("loadConfig", () => {
  let cwd: string;
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), "toolgate-config-"));
  });
  afterEach(() => rm(cwd, { recursive: true, force: true }));

  test("without a file serves the file tools in the current folder", async () => {
    expect(await loadConfig({ cwd, env: {} })).toEqual({ config: defaultConfig(cwd), notes: [] });
    expect(defaultConfig(cwd).tools).toEqual({ workspace: cwd, file: { readLimitBytes: 102_400 } });
  });

  test("reads toolgate.json of the current folder, or the file that is named", async () => {
    await writeFile(join(cwd, "toolgate.json"), '{ "tools": { "file": true } }');
    const loaded = await loadConfig({ cwd, env: {} });
    expect(loaded).toMatchObject({ file: join(cwd, "toolgate.json"), config: { tools: { workspace: cwd } } });
    await writeFile(join(cwd, "other.json"), '{ "instructions": "other" }');
    expect((await loadConfig({ path: "other.json", cwd, env: {} })).config.instructions).toBe("other");
  });

  test("a file that is named and cannot be read is an error that names it", async () => {
    const missing = loadConfig({ path: "missing.json", cwd, env: {} });
    await expect(missing).rejects.toThrow(ConfigError);
    await expect(missing).rejects.toThrow(`${join(cwd, "missing.json")}: There is no such file.`);
    await expect(loadConfig({ path: ".", cwd, env: {} })).rejects.toThrow(`${cwd}: This is a folder.`);
  });
});
