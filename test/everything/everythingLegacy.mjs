import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  LoggingLevelSchema,
  McpError,
  ReadResourceRequestSchema,
  ResultSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { capabilityFor } from "./questions.mjs";

const levels = LoggingLevelSchema.options;
const resourceNotFound = -32002;

/**
 * The description as a server on the official SDK 1.x, for one session: it asks its client by requests while the call
 * runs.
 */
export function createEverythingLegacy(description) {
  const { world, capabilities, instructions } = description;
  const server = new Server({ name: "everything-legacy", version: "1.0.0" }, { capabilities, instructions });
  const session = { server, level: "info" };
  const on = (schema, handle) => server.setRequestHandler(schema, handle);

  on(ListToolsRequestSchema, () => ({ tools: description.list("tools") }));
  on(ListPromptsRequestSchema, () => ({ prompts: description.list("prompts") }));
  on(ListResourcesRequestSchema, () => ({ resources: description.list("resources") }));
  on(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: description.templates }));
  on(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = description.find("tools", params.name);
    if (!tool) throw new McpError(-32602, `Unknown tool: ${params.name}`);
    return run(tool, params.arguments, { session, extra }).catch((error) => ({
      content: [{ type: "text", text: error.message }],
      isError: true,
    }));
  });
  on(GetPromptRequestSchema, ({ params }, extra) => {
    const prompt = description.find("prompts", params.name);
    if (!prompt) throw new McpError(-32602, `Unknown prompt: ${params.name}`);
    return run(prompt, params.arguments, { session, extra });
  });
  on(ReadResourceRequestSchema, ({ params: { uri } }, extra) => {
    const found = description.readTemplate(uri);
    if (found) return found;
    const resource = description.find("resources", uri);
    if (!resource) throw new McpError(resourceNotFound, `Resource not found: ${uri}`, { uri });
    return run(resource, {}, { session, extra });
  });
  on(CompleteRequestSchema, ({ params }) => description.complete(params));
  on(SetLevelRequestSchema, ({ params }) => {
    session.level = params.level;
    return {};
  });
  tellChanges(server, world);
  return server;
}

const listChanged = {
  tools: (server) => server.sendToolListChanged(),
  prompts: (server) => server.sendPromptListChanged(),
  resources: (server) => server.sendResourceListChanged(),
};

/** What belongs to no request: list changes, and updates of what the session has subscribed to. */
function tellChanges(server, world) {
  const subscribed = new Set();
  server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  // Nobody waits for these, and a session that has just ended wants none.
  const onList = (kind) => void listChanged[kind](server).catch(() => {});
  const onUpdated = (uri) => subscribed.has(uri) && void server.sendResourceUpdated({ uri }).catch(() => {});
  world.on("list", onList).on("updated", onUpdated);
  server.onclose = () => world.off("list", onList).off("updated", onUpdated);
}

/** Runs a subject; what it has told is on its way before its result is. */
async function run(subject, args = {}, { session, extra }) {
  const told = [];
  const io = ioOf(session, extra, (notification) => told.push(extra.sendNotification(notification)));
  subject.begin?.(io);
  const result = await (subject.rounds ? runRounds(subject, io) : subject.run(args, io));
  await Promise.all(told);
  return result;
}

function ioOf({ server, level: threshold }, extra, tell) {
  const progressToken = extra._meta?.progressToken;
  return {
    async ask(request) {
      const capability = capabilityFor[request.method];
      if (!(capability in (server.getClientCapabilities() ?? {})))
        throw new Error(`The client has not declared "${capability}", which ${request.method} needs.`);
      return extra.sendRequest(request, ResultSchema);
    },
    log(level, data) {
      if (levels.indexOf(level) < levels.indexOf(threshold)) return;
      tell({ method: "notifications/message", params: { level, data } });
    },
    progress(progress) {
      if (progressToken === undefined) return;
      tell({ method: "notifications/progress", params: { progressToken, ...progress } });
    },
    closeStream: () => extra.closeSSEStream?.(),
    signal: extra.signal,
  };
}

/** The questions of a round go out together. Of an `optional` one, those that are refused are left out. */
async function runRounds({ rounds, answer, optional = false }, io) {
  const responses = {};
  for (const round of rounds) {
    const asked = Object.entries(round).map(async ([key, question]) => {
      responses[key] = await io.ask(question);
    });
    const outcomes = await Promise.allSettled(asked);
    const refused = outcomes.filter(({ status }) => status === "rejected");
    if (refused.length > 0 && (!optional || refused.length === outcomes.length)) throw refused[0].reason;
  }
  return answer(responses);
}
