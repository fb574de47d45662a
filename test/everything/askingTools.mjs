import { text } from "./content.mjs";
import { elicit, listRoots, sample } from "./questions.mjs";
import { string, tool } from "./tools.mjs";

// Tools that ask the client. Either `run` asks while it runs (`io.ask`), or `rounds` say what is asked: each round is
// questions by key, asked together, and `answer` makes the result of all responses by key.

const asked = (action, content) => `action=${action}, content=${JSON.stringify(content ?? {})}`;

/** Sends a form to the client and says what came back. */
const form = (name, description, properties) =>
  tool(name, description, {
    async run(_args, io) {
      const { action, content } = await io.ask(elicit("Please fill in the form.", properties));
      return { content: [text(`Elicitation completed: ${asked(action, content)}`)] };
    },
  });

const titled = (...options) => options.map(([value, title]) => ({ const: value, title }));

const untitledOptions = ["option1", "option2", "option3"];

export const askingTools = [
  tool("test_sampling", "Asks the client's model.", {
    properties: { prompt: string },
    async run({ prompt }, io) {
      const { content } = await io.ask(sample(prompt, 100));
      return { content: [text(`LLM response: ${content.text}`)] };
    },
  }),
  tool("test_elicitation", "Asks the person for a name and an address.", {
    properties: { message: string },
    async run({ message }, io) {
      const fields = {
        username: { type: "string", description: "User's response" },
        email: { type: "string", description: "User's email address" },
      };
      const { action, content } = await io.ask(elicit(message, fields));
      return { content: [text(`User response: ${asked(action, content)}`)] };
    },
  }),
  tool("test_roots", "Asks the client for its roots.", {
    async run(_args, io) {
      const { roots } = await io.ask(listRoots);
      return { content: [text(roots.map(({ uri }) => uri).join("\n"))] };
    },
  }),
  form("test_elicitation_sep1034_defaults", "Asks with a default for every primitive type.", {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  }),
  form("test_elicitation_sep1330_enums", "Asks with every form of choice.", {
    untitledSingle: { type: "string", enum: untitledOptions },
    titledSingle: {
      type: "string",
      oneOf: titled(["value1", "First Option"], ["value2", "Second Option"], ["value3", "Third Option"]),
    },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: { type: "array", items: { type: "string", enum: untitledOptions } },
    titledMulti: {
      type: "array",
      items: {
        anyOf: titled(["value1", "First Choice"], ["value2", "Second Choice"], ["value3", "Third Choice"]),
      },
    },
  }),
];

/** `keepsState`: the rounds before are in an integrity-protected `requestState`. More than one round needs it. */
const rounds = (name, description, { rounds, answer, keepsState = rounds.length > 1, ...rest }) =>
  tool(`test_input_required_result_${name}`, description, {
    rounds,
    keepsState,
    answer: (responses) => ({ content: [text(answer(responses))] }),
    ...rest,
  });

const name = (message) => elicit(message, { name: string });
const confirmation = elicit("Please confirm", { ok: { type: "boolean" } });

export const roundTools = [
  rounds("elicitation", "Asks the person for a name.", {
    rounds: [{ user_name: name("What is your name?") }],
    answer: ({ user_name }) => `Hello, ${user_name.content?.name ?? "stranger"}!`,
  }),
  rounds("sampling", "Asks the client's model.", {
    rounds: [{ capital_question: sample("What is the capital of France?", 100) }],
    answer: ({ capital_question }) => capital_question.content.text,
  }),
  rounds("list_roots", "Asks the client for its roots.", {
    rounds: [{ client_roots: listRoots }],
    answer: ({ client_roots }) => client_roots.roots.map(({ uri }) => uri).join("\n"),
  }),
  rounds("request_state", "Asks for a confirmation, and keeps its state with the client.", {
    rounds: [{ confirm: confirmation }],
    keepsState: true,
    answer: () => "state-ok",
  }),
  rounds("tampered_state", "Asks for a confirmation, and refuses a state that is not its own.", {
    rounds: [{ confirm: confirmation }],
    keepsState: true,
    answer: () => "state-ok",
  }),
  rounds("multiple_inputs", "Asks the person, the model and for the roots at once.", {
    rounds: [
      {
        user_name: name("What is your name?"),
        greeting: sample("Generate a greeting", 50),
        client_roots: listRoots,
      },
    ],
    keepsState: true,
    answer: ({ user_name, greeting, client_roots }) =>
      `${greeting.content.text} ${user_name.content?.name ?? "stranger"}, ${client_roots.roots.length} roots`,
  }),
  rounds("multi_round", "Asks twice, the second time with the first answer known.", {
    rounds: [
      { step1: name("Step 1: What is your name?") },
      { step2: elicit("Step 2: What is your favorite color?", { color: string }) },
    ],
    answer: ({ step1, step2 }) => `${step1.content?.name} likes ${step2.content?.color}`,
  }),
  rounds("capabilities", "Asks only what the client can answer.", {
    rounds: [{ person: name("What is your name?"), model: sample("Say hello.", 50) }],
    optional: true,
    answer: (responses) => `Answered: ${Object.keys(responses).join(", ")}`,
  }),
  tool("test_missing_capability", "Cannot do without the client's model.", {
    rounds: [{ needed: sample("Say hello.", 50) }],
    answer: ({ needed }) => ({ content: [text(needed.content.text)] }),
  }),
  tool("test_streaming_elicitation", "Logs, and asks the person for a name.", {
    rounds: [{ user_name: name("What is your name?") }],
    begin: (io) => io.log("info", "A question follows."),
    answer: ({ user_name }) => ({ content: [text(`Hello, ${user_name.content?.name ?? "stranger"}!`)] }),
  }),
];

/** A prompt that asks the person what it should be about. */
export const askingPrompt = {
  definition: { name: "test_input_required_result_prompt", description: "Asks the person for its context." },
  rounds: [{ user_context: elicit("What context should the prompt use?", { context: string }) }],
  answer: ({ user_context }) => ({
    messages: [{ role: "user", content: text(`Context: ${user_context.content?.context ?? "none"}`) }],
  }),
};

/** A resource that asks the person before it is read. */
export const askingResource = {
  definition: {
    uri: "test://asking",
    name: "asking",
    description: "Asks for a confirmation.",
    mimeType: "text/plain",
  },
  rounds: [{ confirm: confirmation }],
  answer: ({ confirm }) => ({
    contents: [{ uri: "test://asking", mimeType: "text/plain", text: `Confirmed: ${confirm.action}` }],
  }),
};
