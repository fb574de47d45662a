import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exposedName, joinName, toNamespace } from "../src/core/names.ts";
import { parseConfig, type ParsedConfig } from "../src/gateway/config.ts";
import { upstreamEnv } from "../src/gateway/upstreamEnv.ts";
import { dialects, type DialectName } from "../src/mcp/server/dialect.ts";
import { codeSpans, readDocs, tableOf } from "./support/docs.ts";
import { root } from "./support/paths.ts";

// The tables of docs/configuration.md, each against the code that it describes.

const doc = (await readDocs()).find(({ path }) => path === "docs/configuration.md")!;
const parse = (text: string): ParsedConfig => parseConfig(text, { file: "/home/ada/toolgate.json", env: {} });
const code = (cell = ""): string => codeSpans(cell)[0] ?? "";

type Members = Readonly<Record<string, unknown>>;

/** The sections of the page that list keys: a whole configuration with these members in that section. */
const sections: Readonly<Record<string, (members: Members) => object>> = {
  "The file": (members) => members,
  mcpServers: (members) => ({ mcpServers: { a: members } }),
  tools: (tools) => ({ tools }),
  listen: (listen) => ({ listen }),
  principals: (members) => ({ principals: { ada: members } }),
  limits: (limits) => ({ limits }),
};

interface Row {
  readonly section: string;
  readonly key: string;
  readonly default: string;
  readonly range: string;
}

const rows: readonly Row[] = Object.keys(sections).flatMap((section) =>
  tableOf(doc, section, "key").map((row) => ({
    section,
    key: code(row["key"]),
    default: code(row["default"]),
    range: row["range"] ?? "",
  })),
);

/** What stands beside a key, so that it means something. */
function beside({ section, key }: Row): Members {
  if (section === "mcpServers") return key === "headers" ? { url: "http://a.example" } : { command: "a" };
  // Neither of the two may pass the other.
  if (key === "callTimeoutMs") return { callTimeoutMaxMs: 2 ** 31 - 1 };
  if (key === "callTimeoutMaxMs") return { callTimeoutMs: 1 };
  return key === "workspace" ? { file: true } : {};
}

/** A configuration with the key, or without it. What the key is a member of (`file.readLimitBytes`) is there in both. */
function build(row: Row, value?: unknown): ParsedConfig {
  const [first = "", second] = row.key.split(".");
  const own = value === undefined ? {} : { [second ?? first]: value };
  const members = { ...beside(row), ...(second === undefined ? own : { [first]: own }) };
  return parse(JSON.stringify(sections[row.section]!(members)));
}

describe("defaults", () => {
  test.for(rows.filter((row) => row.default !== ""))("$section: leaving out $key means $default", (row) => {
    expect(build(row, JSON.parse(row.default)).config).toEqual(build(row).config);
  });

  test("of the limits, and which have none", () => {
    const limits: Members = { ...parse("{}").config.limits };
    for (const { key, default: stated } of rows.filter(({ section }) => section === "limits"))
      expect([key, stated]).toEqual([key, key in limits ? String(limits[key]) : ""]);
  });
});

describe("ranges", () => {
  test.for(rows.filter(({ range }) => range !== ""))("$section: $key is from $range", (row) => {
    const [least = NaN, most = NaN] = row.range.split(" to ").map(Number);
    for (const fits of [least, most]) expect(() => build(row, fits)).not.toThrow();
    for (const wrong of [least - 1, most + 1])
      expect(() => build(row, wrong)).toThrow(`must be a whole number from ${least} to ${most}.`);
  });
});

describe("keys", () => {
  const strange = "qqqqqqqqqqqqqqqqqqqq";

  test.for(["The file", "tools", "listen", "principals", "limits"])("%s: none is missing", (section) => {
    const text = JSON.stringify(sections[section]!({ [strange]: 1 }));
    let message = "";
    try {
      parse(text);
    } catch (error) {
      message = (error as Error).message;
    }
    const known = /Known here: (.*)\.$/m.exec(message)?.[1]?.split(", ");
    const listed = rows.filter((row) => row.section === section).map(({ key }) => key.replace("NAME.", ""));
    expect(listed.filter((key) => !key.includes(".")).toSorted()).toEqual(known);
  });

  test("mcpServers: each is understood", () => {
    const listed = rows.filter(({ section }) => section === "mcpServers").map(({ key }) => key);
    const entry = Object.fromEntries([...listed, strange].map((key) => [key, null]));
    // Left out, so that only its keys are looked at.
    const { notes } = parse(
      JSON.stringify({ mcpServers: { a: { ...entry, disabled: true, enabled: true } } }),
    );
    expect(listed).toHaveLength(14);
    expect(notes.map(({ message }) => message)).toEqual([
      `Fields of servers that Toolgate does not know are ignored: a.${strange}.`,
    ]);
  });
});

test.for(tableOf(doc, "Names", "namespace"))("the names of $server and $tool", (row) => {
  const namespace = toNamespace(code(row["server"]));
  expect(code(row["namespace"])).toBe(namespace);
  expect(code(row["what clients see"])).toBe(exposedName(joinName(namespace, code(row["tool"]))));
});

test("what a server gets of the environment is listed, all of it", async () => {
  const [, section = ""] = /### The environment of a server\n(.*?)\n## /s.exec(doc.prose) ?? [];
  const listed = codeSpans(section.slice(section.indexOf("- "))).filter((name) => name !== "env");
  const names = listed.map((name) => name.replace("*", "CTYPE"));
  expect(upstreamEnv({}, Object.fromEntries(names.map((name) => [name, "x"])))).toEqual(
    Object.fromEntries(names.map((name) => [name, "x"])),
  );
  const source = await readFile(join(root, "src/gateway/upstreamEnv.ts"), "utf8");
  const inSource = Array.from(source.matchAll(/"([A-Za-z_]{2,})"/g), ([, name]) => name!);
  expect(listed.map((name) => name.replace("*", "")).toSorted()).toEqual(inSource.toSorted());
});

test.for(tableOf(doc, "A server that cannot be used", "reason"))("$entry fails alone", (row) => {
  const { config } = parse(`{ "mcpServers": { "a": ${code(row["entry"])} } }`);
  expect(config.upstreams).toEqual([
    { kind: "broken", key: "a", namespace: "a", reason: expect.stringContaining(row["reason"]!) },
  ]);
});

describe("variables", () => {
  const forms = tableOf(doc, "Variables", "written").flatMap((row) => codeSpans(row["written"]!));

  test.for(forms)("%s is replaced", (text) => {
    const read = (env: Record<string, string>): string => {
      try {
        const config = JSON.stringify({ instructions: text });
        return parseConfig(config, { file: "/toolgate.json", env }).config.instructions ?? "";
      } catch (error) {
        return (error as Error).message;
      }
    };
    const unset = text.includes(":-") ? "default" : "the environment variable NAME is not set.";
    expect(read({ NAME: "value" })).toBe("value");
    expect(read({})).toContain(unset);
  });

  test("are of three forms", () => expect(forms).toHaveLength(3));
});

test.for(tableOf(doc, "What is refused", "answer"))("$configuration is refused", (row) => {
  expect(() => parse(code(row["configuration"]))).toThrow(row["answer"]!);
});

test.for(Object.keys(dialects) as DialectName[])("the dialect %s", (name) => {
  const dialect = dialects[name];
  const unknown = dialect.unknownTool("x");
  const parseError = dialect.parseError();
  const told = tableOf(doc, "Dialects", "case").map((row) => row[`\`${name}\``]);
  expect(told).toEqual([
    unknown === "result" ? "a result with `isError`" : `${unknown.code} \`${unknown.message}\``,
    `${parseError.code}, ${dialect.missingId === null ? "`id` null" : "no `id`"}`,
    dialect.pingsEarly ? "answered" : "-32002",
  ]);
});
