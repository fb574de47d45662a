import { load } from "./dist.mjs";

const { ToolContext } = await load("core/context.js");

const clientCapabilities = { elicitation: { form: {} } };
const context = new ToolContext({ clientCapabilities, onAsk: async (request) => answerTo(request) });

/** Lists all that the server has, and uses each entry once. */
export async function useEverything(connection) {
  const tools = await listTools(connection);
  await callTools(
    connection,
    tools.map(({ name, inputSchema }) => ({ name, arguments: fill(inputSchema) })),
  );
  const { entries: resources } = await connection.list("resources");
  for (const { uri } of resources) await answered((ctx) => connection.readResource(uri, ctx));
  const { entries: prompts } = await connection.list("prompts");
  for (const { name } of prompts) await answered((ctx) => connection.getPrompt(name, {}, ctx));
}

export async function listTools(connection) {
  const { entries } = await connection.list("tools");
  return entries;
}

export async function callTools(connection, calls) {
  for (const { name, arguments: args } of calls)
    await answered((ctx) => connection.callTool(name, args, ctx));
}

/** Sends one tool the definition that another one came with. */
export async function echoSchema(connection) {
  const tools = await listTools(connection);
  const { inputSchema } = tools.find(({ name }) => name === "json_schema_2020_12_tool");
  await callTools(connection, [{ name: "json_schema_echo", arguments: { schema: inputSchema } }]);
}

/** Asks until the server has no more questions. */
async function answered(ask) {
  let result = await ask(context);
  while (result.type === "input_required") {
    const { inputRequests = {}, requestState } = result;
    const responses = Object.fromEntries(
      Object.entries(inputRequests).map(([key, request]) => [key, answerTo(request)]),
    );
    const answers = { responses, ...(requestState !== undefined && { requestState }) };
    result = await ask(context.with({ answers }));
  }
}

/** A person who leaves each form as it is. */
function answerTo({ params }) {
  return { action: "accept", content: fill(params.requestedSchema) };
}

const samples = { string: "x", number: 1.5, integer: 2, boolean: true };

/** The defaults of a schema's properties, or something of their type. */
function fill({ properties = {} } = {}) {
  const values = Object.entries(properties).map(([name, schema]) => [
    name,
    schema.default ?? samples[schema.type],
  ]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}
