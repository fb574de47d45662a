import { describe, expect, test } from "vitest";
import { parseDoc, tableOf } from "./docs.ts";
import { flowchartProblems } from "./docsMermaid.ts";
import { commandProblem, commandsOf } from "./docsShell.ts";

const kinds = (...lines: string[]): (string | undefined)[] =>
  parseDoc("page.md", lines).blocks.map((block) => block.kind);

describe("the blocks of a page", () => {
  test("are told by their language, the comment above and the program before", () => {
    expect(kinds("```ts", "1;", "```", "", "```text", "1", "```")).toEqual(["program", "printed"]);
    expect(kinds("<!-- file: a.mjs -->", "```js", "1;", "```")).toEqual(["file"]);
    expect(kinds("<!-- output: doctor -->", "```text", "fine", "```")).toEqual(["output"]);
    expect(kinds("```sh", "ls", "```", "```jsonc", "{}", "```", "```mermaid", "```")).toEqual([
      "shell",
      "config",
      "mermaid",
    ]);
  });

  test("are of no kind where nobody could check them", () => {
    expect(kinds("```yaml", "a: 1", "```", "```", "```")).toEqual([undefined, undefined]);
    expect(kinds("```ts", "1;", "```", "It says so:", "```text", "1", "```")).toEqual(["program", undefined]);
    expect(kinds("<!-- skip: it -->", "```ts", "1;", "```")).toEqual([undefined]);
  });

  test("are closed", () => {
    expect(() => kinds("text", "```ts", "1;")).toThrow("page.md:2: the fence is not closed");
  });
});

test("tables belong to the heading above them", () => {
  const doc = parseDoc("page.md", ["# One `two`", "", "| a | b |", "|---|---|", "| 1 | `2` |", "end"]);
  expect(tableOf(doc, "One two", "b")).toEqual([{ a: "1", b: "`2`" }]);
  expect(() => tableOf(doc, "One two", "c")).toThrow('page.md has no table with "c" under "One two"');
  expect(doc.anchors).toEqual(["one-two"]);
});

test("a flowchart is well-formed", () => {
  expect(flowchartProblems('flowchart TD\n  a["x<br/>y"] --> b\n  b -->|then| c --> a')).toEqual([]);
  expect(flowchartProblems("graph\n  a --> b")).toEqual(["no flowchart: graph"]);
  expect(flowchartProblems("flowchart LR\n  a")).toEqual(["it has no arrow"]);
  expect(flowchartProblems('flowchart LR\n  a["x] --> b')).toEqual(['not understood: a["x] --> b']);
  expect(flowchartProblems("flowchart LR\n  a -> b --> c")).toEqual(["not understood: a -> b --> c"]);
});

describe("shell lines", () => {
  test("are split as a shell does", () => {
    expect(commandsOf(`npm ci && node a.mjs '{"b": "c d"}' # why`)).toEqual([
      ["npm", "ci"],
      ["node", "a.mjs", '{"b": "c d"}'],
    ]);
    expect(commandsOf("# nothing")).toEqual([]);
    expect(() => commandsOf("a 'b")).toThrow("a quote is not closed");
  });

  test.for([
    [["toolgate", "serv"], 'There is no command "serv"'],
    [["npx", "toolgate", "serve", "--htpp", "1"], "There is no flag --htpp"],
    [["toolgate", "call", "a", "{b}"], "The arguments are no JSON"],
    [["npm", "run", "nothing"], 'package.json has no script "nothing"'],
    [["node", "nothing.mjs"], "there is no file nothing.mjs"],
    [["yarn"], 'nobody knows "yarn"'],
  ] as const)("%j is told to be wrong", async ([words, problem]) => {
    expect(await commandProblem(words, "/nowhere")).toContain(problem);
  });
});
