import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResultSchema,
} from "@modelcontextprotocol/sdk/types.js";
import assert from "node:assert/strict";

const self = { name: "bridge", version: "1.0.0" };
/** What a client declares unless a check says otherwise: all that can be asked of one. */
const everything = { elicitation: {}, sampling: {}, roots: {} };

const filled = {
  name: "Ada",
  username: "ada",
  email: "ada@example.com",
  ok: true,
  color: "blue",
  context: "bridges",
};

/** How a client answers unless a check says otherwise. */
const answers = {
  "elicitation/create": ({ requestedSchema }) => ({ action: "accept", content: fill(requestedSchema) }),
  "sampling/createMessage": ({ messages: [{ content }] }) => ({
    role: "assistant",
    model: "a-model",
    content: { type: "text", text: `The model heard: ${content.text}` },
  }),
  "roots/list": () => ({ roots: [{ uri: "file:///work", name: "work" }] }),
};

/** The content of a form that has known fields. */
export function fill({ properties }) {
  return Object.fromEntries(Object.keys(properties).map((name) => [name, filled[name]]));
}

/** Of a tool's result that is one text. */
export function textOf({ content: [{ text }] }) {
  return text;
}

/** The official client of 2025, which opens with `initialize`, with the members that differ between the two. */
async function openLegacy(url, { capabilities, requestInit, onQuestion, onNotification }) {
  const client = new ClientV1(self, { capabilities });
  if ("elicitation" in capabilities) client.setRequestHandler(ElicitRequestSchema, onQuestion);
  if ("sampling" in capabilities) client.setRequestHandler(CreateMessageRequestSchema, onQuestion);
  if ("roots" in capabilities) client.setRequestHandler(ListRootsRequestSchema, onQuestion);
  client.fallbackNotificationHandler = onNotification;
  await client.connect(new HttpV1(new URL(url), { requestInit }));
  return {
    request: (request, options) => client.request(request, ResultSchema, options),
    // Changes of lists are told to every session.
    listen: (_lists, uris) => Promise.all(uris.map((uri) => client.subscribeResource({ uri }))),
    endSession: () => client.transport.terminateSession(),
    close: () => client.close(),
  };
}

const filterMember = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
};

/** The official client of 2026, which speaks 2026-07-28 alone here: it answers `input_required` by its handlers, and listens. */
async function openModern(url, { capabilities, requestInit, onQuestion, onNotification }) {
  const client = new Client(self, { capabilities, versionNegotiation: { mode: { pin: "2026-07-28" } } });
  if ("elicitation" in capabilities) client.setRequestHandler("elicitation/create", onQuestion);
  if ("sampling" in capabilities) client.setRequestHandler("sampling/createMessage", onQuestion);
  if ("roots" in capabilities) client.setRequestHandler("roots/list", onQuestion);
  client.fallbackNotificationHandler = onNotification;
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return {
    request: (request, options) => client.request(request, options),
    async listen(lists, uris) {
      const filter = Object.fromEntries(lists.map((kind) => [filterMember[kind], true]));
      if (uris.length > 0) filter.resourceSubscriptions = uris;
      const { honoredFilter } = await client.listen(filter);
      assert.deepEqual(honoredFilter, filter, "what the subscription is acknowledged for");
    },
    close: () => client.close(),
  };
}

const open = { legacy: openLegacy, modern: openModern };

/** A real client of one era at one endpoint of the gateway, which keeps what it was told and asked. */
export class BridgeClient {
  /** Notifications, in the order in which they came. */
  heard = [];
  /** Questions, in the order in which they came. */
  asked = [];
  #opened;
  #until;
  #waiting = [];

  /** `until(what, promise)` keeps account of what is awaited. */
  constructor(until) {
    this.#until = until;
  }

  /** `answer`: how it answers questions, by method. */
  async connect(url, { era, token, capabilities = everything, answer = {} }) {
    const onQuestion = ({ method, params }) => {
      this.asked.push({ method, params });
      return (answer[method] ?? answers[method])(params);
    };
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    const onNotification = async (notification) => this.#hear(notification);
    this.#opened = await open[era](url, { capabilities, requestInit, onQuestion, onNotification });
  }

  /** Resolves to the result as it came; rejects with an error that has the `code` and `data` of the answer. */
  request(method, params = {}, options = {}) {
    const what = [method, params.name ?? params.uri].join(" ").trim();
    return this.#until(`the answer to ${what}`, this.#opened.request({ method, params }, options));
  }

  callTool(name, args = {}, options = {}) {
    return this.request("tools/call", { name, arguments: args }, options);
  }

  /** Resolves when the changes of these lists and resources will be told. */
  listen({ lists = [], uris = [] }) {
    return this.#until("the subscription", this.#opened.listen(lists, uris));
  }

  /** The first notification of that method for whose params `matches` holds, whether it has come or is to come. */
  hears(method, matches = () => true) {
    const isIt = (notification) => notification.method === method && matches(notification.params ?? {});
    const known = this.heard.find(isIt);
    const heard = known ?? new Promise((resolve) => this.#waiting.push({ isIt, resolve }));
    return this.#until(method, Promise.resolve(heard));
  }

  /** Legacy only. */
  endSession() {
    return this.#until("the end of the session", this.#opened.endSession());
  }

  async close() {
    await this.#opened?.close();
  }

  #hear(notification) {
    this.heard.push(notification);
    for (const { isIt, resolve } of this.#waiting) if (isIt(notification)) resolve(notification);
  }
}
