import type { JsonObject } from "../../src/core/json.ts";
import { classify, RpcError, type JsonRpcMessage, type JsonRpcRequest } from "../../src/wire/jsonrpc.ts";
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
        if ("method" in message && "id" in message) void this.#answer(message, events);
      },
      close: async () => {
        if (open) this.open -= 1;
        open = false;
      },
      negotiated: (version) => void this.negotiated.push(version),
    };
    return link;
  };

  /** Any value, as a message from the server. */
  say(value: unknown): void {
    this.#events?.message(classify(value));
  }

  notify(method: string, params?: JsonObject): void {
    this.say({ jsonrpc: "2.0", method, ...(params && { params }) });
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

/** A server of 2026-07-28 with one tool, `read`, which keeps subscriptions open. */
export function modernServer(answers: Record<string, Answer> = {}): FakeServer {
  return new FakeServer({
    "server/discover": () => ({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: { listChanged: true } },
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "new", version: "2" } },
    }),
    "tools/list": () => ({ resultType: "complete", tools: [oneTool] }),
    "tools/call": () => ({ resultType: "complete", content: [{ type: "text", text: "done" }] }),
    "subscriptions/listen": silence,
    ...answers,
  });
}
