import type { JsonObject } from "../../src/core/json.ts";
import {
  classify,
  RpcError,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
} from "../../src/wire/jsonrpc.ts";
import type { Dial, Link, LinkEvents, SendOptions } from "../../src/wire/link.ts";

export type Answer = (params: JsonObject, request: JsonRpcRequest) => unknown;

/** An answer that never comes. */
export const silence = (): Promise<never> => new Promise(() => {});

/** An MCP server in memory: what it answers, by method. What it does not name, it does not know. */
export class FakeServer {
  readonly answers: Record<string, Answer>;
  /** All that came over the current and earlier links. */
  readonly received: JsonRpcMessage[] = [];
  readonly extras: (SendOptions | undefined)[] = [];
  readonly negotiated: string[] = [];
  dials = 0;
  open = 0;
  /** Instead of a link. */
  refuse: Error | undefined;
  #events: LinkEvents | undefined;
  #asked = 0;
  /** Who waits for the answer to which of its own requests. */
  readonly #waiting = new Map<RequestId, (response: JsonRpcResponse) => void>();

  constructor(answers: Record<string, Answer>) {
    this.answers = answers;
  }

  readonly dial: Dial = async (events) => {
    this.dials += 1;
    if (this.refuse) throw this.refuse;
    this.#events = events;
    this.open += 1;
    let open = true;
    const link: Link = {
      send: (message, extra) => {
        if (!open) throw new Error("write after end");
        this.received.push(message);
        this.extras.push(extra);
        if (!("method" in message)) this.#waiting.get(message.id ?? "")?.(message);
        else if ("id" in message) void this.#answer(message, events);
      },
      close: async () => {
        if (open) this.open -= 1;
        open = false;
      },
      negotiated: (version) => void this.negotiated.push(version),
    };
    return link;
  };

  /** Any value, as a message from the server; on the stream of the request `cause`, where there is one. */
  say(value: unknown, cause?: RequestId): void {
    this.#events?.message(classify(value), cause);
  }

  notify(method: string, params?: JsonObject, cause?: RequestId): void {
    this.say({ jsonrpc: "2.0", method, ...(params && { params }) }, cause);
  }

  /** A request of the server's own. Resolves with the answer. */
  ask(method: string, params?: JsonObject, cause?: RequestId): Promise<JsonRpcResponse> {
    const id = `q${++this.#asked}`;
    const answered = new Promise<JsonRpcResponse>((resolve) => this.#waiting.set(id, resolve));
    this.say({ jsonrpc: "2.0", id, method, ...(params && { params }) }, cause);
    return answered;
  }

  /** Honours all that the last `subscriptions/listen`, or the one of that id, asks for. */
  acknowledge(id?: RequestId, notifications?: unknown): void {
    const listens = this.requests("subscriptions/listen");
    const listen = listens.find((one) => one.id === id) ?? listens.at(-1);
    this.notify("notifications/subscriptions/acknowledged", {
      notifications: notifications ?? listen?.params?.["notifications"],
      _meta: { "io.modelcontextprotocol/subscriptionId": id ?? listen?.id },
    });
  }

  /** Text over the link has been lost, as HTTP reports it. */
  miss(): void {
    this.#events?.missed?.();
  }

  /** The requests of one method, in order. */
  requests(method: string): JsonRpcRequest[] {
    return this.received.flatMap((one) =>
      "method" in one && "id" in one && one.method === method ? [one] : [],
    );
  }

  /** A line longer than the bound, as a framer reports it. */
  flood(limit: number): void {
    this.#events?.message({ kind: "invalid", reason: "size", limit });
  }

  die(why: string): void {
    this.#events?.closed(new Error(why));
  }

  /** The requests and notifications of one method, in order. */
  got(method: string): (JsonRpcRequest | { params?: JsonObject; method: string })[] {
    return this.received.flatMap((one) => ("method" in one && one.method === method ? [one] : []));
  }

  async #answer(request: JsonRpcRequest, events: LinkEvents): Promise<void> {
    const { id, method, params = {} } = request;
    try {
      const answer = this.answers[method];
      if (!answer) throw new RpcError(-32601, `Method not found: ${method}`);
      const result = await answer(params, request);
      events.message(classify({ jsonrpc: "2.0", id, result }));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      events.message(classify(error.toResponse(id)));
    }
  }
}

const noSchema = { type: "object" };

export const oneTool = { name: "read", inputSchema: noSchema };

/** A server of 2025-11-25 with one tool, `read`. */
export function legacyServer(answers: Record<string, Answer> = {}): FakeServer {
  return new FakeServer({
    initialize: () => ({
      protocolVersion: "2025-11-25",
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "old", version: "1" },
    }),
    "tools/list": () => ({ tools: [oneTool] }),
    "tools/call": () => ({ content: [{ type: "text", text: "done" }] }),
    ...answers,
  });
}

/** A server of 2026-07-28 with one tool, `read`, which acknowledges subscriptions and keeps them open. */
export function modernServer(answers: Record<string, Answer> = {}): FakeServer {
  const server: FakeServer = new FakeServer({
    "server/discover": () => ({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: { listChanged: true } },
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "new", version: "2" } },
    }),
    "tools/list": () => ({ resultType: "complete", tools: [oneTool] }),
    "tools/call": () => ({ resultType: "complete", content: [{ type: "text", text: "done" }] }),
    "subscriptions/listen": (_, { id }) => {
      queueMicrotask(() => server.acknowledge(id));
      return silence();
    },
    ...answers,
  });
  return server;
}

/** Announces these capabilities instead. */
export function announcing(server: FakeServer, capabilities: JsonObject): FakeServer {
  for (const method of ["initialize", "server/discover"]) {
    const answer = server.answers[method];
    if (answer)
      server.answers[method] = async (...asked) => ({
        ...((await answer(...asked)) as object),
        capabilities,
      });
  }
  return server;
}
