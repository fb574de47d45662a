import assert from "node:assert/strict";
import { textOf } from "./clients.mjs";

// What a server asks of its client, whichever way the two revisions do it. Each check is `check(run)` (see `Run`).

async function elicitation(run) {
  const client = await run.client();
  const { content } = await client.callTool("test_elicitation", { message: "Who are you?" });
  const answer = '{"username":"ada","email":"ada@example.com"}';
  assert.equal(content[0].text, `User response: action=accept, content=${answer}`);
  assert.deepEqual(
    client.asked.map(({ params: { message, requestedSchema } }) => [message, requestedSchema.required]),
    [["Who are you?", ["username", "email"]]],
  );
  assert.equal(textOf(await client.callTool("test_input_required_result_elicitation")), "Hello, Ada!");
  const declining = await run.client({ answer: { "elicitation/create": () => ({ action: "decline" }) } });
  assert.match(
    textOf(await declining.callTool("test_elicitation", { message: "Who are you?" })),
    /action=decline/,
  );
}

async function sampling(run) {
  const client = await run.client();
  const result = await client.callTool("test_sampling", { prompt: "Say it." });
  assert.equal(textOf(result), "LLM response: The model heard: Say it.");
}

async function roots(run) {
  const client = await run.client();
  assert.equal(textOf(await client.callTool("test_roots")), "file:///work");
}

async function questionOfPrompt(run) {
  const client = await run.client();
  const { messages } = await client.request("prompts/get", { name: "test_input_required_result_prompt" });
  assert.equal(messages[0].content.text, "Context: bridges");
}

async function questionOfResource(run) {
  const client = await run.client();
  const { contents } = await client.request("resources/read", { uri: "test://asking" });
  assert.equal(contents[0].text, "Confirmed: accept");
}

async function severalQuestions(run) {
  const client = await run.client();
  const together = await client.callTool("test_input_required_result_multiple_inputs");
  assert.equal(textOf(together), "The model heard: Generate a greeting Ada, 1 roots");
  const rounds = await client.callTool("test_input_required_result_multi_round");
  assert.equal(textOf(rounds), "Ada likes blue");
  assert.equal(client.asked.length, 5);
}

/** Entries are `{ name, check }`. */
export const questions = Object.entries({
  elicitation,
  sampling,
  roots,
  "question of a prompt": questionOfPrompt,
  "question of a resource": questionOfResource,
  "several questions": severalQuestions,
}).map(([name, check]) => ({ name, check }));
