import { setTimeout } from "node:timers/promises";
import { text } from "./content.mjs";
import { elicit } from "./questions.mjs";
import { string, tool } from "./tools.mjs";

// Tools for clients with the extension io.modelcontextprotocol/tasks. `task` says whether a call may become a task
// (`optional`) or can be nothing else (`required`); what it asks while it runs goes through `io.ask`, as anywhere.

const yes = { confirm: { type: "boolean" } };
const name = { name: string };

export const taskTools = [
  tool("greet", "Greets, at once.", {
    properties: name,
    run: ({ name }) => ({ content: [text(`Hello, ${name}!`)] }),
  }),
  tool("slow_compute", "Takes that many seconds.", {
    task: "optional",
    properties: { seconds: { type: "number" }, label: string },
    async run({ seconds, label }, { signal }) {
      await setTimeout(seconds * 1000, undefined, { signal });
      return { content: [text(`${label}: computed for ${seconds} s`)] };
    },
  }),
  tool("failing_job", "Always fails.", {
    task: "required",
    run: () => ({ content: [text("This job intentionally fails for testing")], isError: true }),
  }),
  tool("protocol_error_job", "Always ends in an error of the protocol.", {
    task: "required",
    run: () => Promise.reject(new Error("This job intentionally breaks for testing")),
  }),
  tool("confirm_delete", "Asks the person before it pretends to delete.", {
    task: "optional",
    properties: { filename: string },
    async run({ filename }, io) {
      const { action, content } = await io.ask(elicit(`Delete ${filename}?`, yes));
      const deleted = action === "accept" && content.confirm === true;
      return { content: [text(`${filename} was ${deleted ? "deleted" : "kept"}`)] };
    },
  }),
  tool("multi_input", "Asks the person two things at once.", {
    task: "optional",
    async run(_args, io) {
      const [who, sure] = await Promise.all([
        io.ask(elicit("What is your name?", name)),
        io.ask(elicit("Are you sure?", yes)),
      ]);
      return { content: [text(`${who.content?.name ?? "nobody"}: ${sure.content?.confirm ?? "unsure"}`)] };
    },
  }),
  tool("test_tool_with_task", "Asks the person for a name, and goes on as a task.", {
    task: "required",
    rounds: [{ user_name: elicit("What is your name?", name) }],
    answer: ({ user_name }) => ({ content: [text(`Hello, ${user_name.content?.name ?? "stranger"}!`)] }),
  }),
];
