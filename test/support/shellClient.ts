import { Cancellation } from "../../src/core/cancellation.ts";
import type { ToolContext } from "../../src/core/context.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { ToolError } from "../../src/core/errors.ts";
import type { Caller, Middleware } from "../../src/core/operation.ts";
import { localPrincipal } from "../../src/core/principal.ts";
import type { ToolProvider } from "../../src/core/provider.ts";
import type { ToolOutput } from "../../src/core/result.ts";
import type { ToolDefinition } from "../../src/core/tool.ts";
import { McpServerShell, type ShellOptions } from "../../src/mcp/server/shell.ts";
import { Mount } from "../../src/providers/mount.ts";
import { createCaller } from "../../src/runtime/call.ts";
import { Session, type Exchange, type ServerMessage } from "../../src/wire/endpoint.ts";
import { parse, type JsonRpcErrorObject } from "../../src/wire/jsonrpc.ts";
import { legacyVersions, metaKeys } from "../../src/wire/protocol.ts";

/** A reply, read again, and the status beside it. */
export interface ShellReply {
  readonly id?: unknown;
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- Tests read it as what they expect.
  readonly result?: any;
  readonly error: JsonRpcErrorObject & { data?: JsonObject };
}

/** What was sent, and what will be. */
export class Mailbox {
  readonly all: ServerMessage[] = [];
  #taken = 0;
  #wake: (() => void) | undefined;

  readonly put = (message: ServerMessage): true => {
    // As a door does, which takes nothing but JSON.
    this.all.push(JSON.parse(JSON.stringify(message)));
    this.#wake?.();
    return true;
  };

  /** The first one that has not been taken; waits for it. */
  async next(): Promise<ServerMessage & { id?: string | number; params: JsonObject }> {
    while (this.#taken === this.all.length) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.all[this.#taken++] as never;
  }

  get methods(): string[] {
    return this.all.map(({ method }) => method);
  }
}

export const modernMeta: Readonly<JsonObject> = {
  [metaKeys.protocolVersion]: "2026-07-28",
  [metaKeys.clientCapabilities]: {},
};

export const every = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

/** One modern request's own way in and out, as on HTTP. */
export interface Way {
  readonly exchange: Exchange;
  readonly sent: Mailbox;
  readonly cancellation: Cancellation;
}

export function wayOf(principal = localPrincipal.id, headers?: Record<string, string>): Way {
  const sent = new Mailbox();
  const cancellation = new Cancellation();
  const exchange: Exchange = {
    principal: { id: principal },
    cancellation,
    send: sent.put,
    ...(headers && { headers: (name: string) => headers[name] }),
  };
  return { exchange, sent, cancellation };
}

/** A client of a shell, on a connection that stays; modern requests may take other ways. */
export class ShellClient {
  readonly shell: McpServerShell;
  /** What belongs to no request. */
  readonly unsolicited = new Mailbox();
  /** What belongs to one. */
  readonly sent = new Mailbox();
  readonly session = new Session(this.unsolicited.put);
  readonly exchange: Exchange = { principal: localPrincipal, session: this.session, send: this.sent.put };
  #lastId = 0;

  constructor(to: Caller | McpServerShell, options: Partial<ShellOptions> = {}) {
    this.shell =
      to instanceof McpServerShell
        ? to
        : new McpServerShell({ caller: to, serverInfo: { name: "test", version: "1" }, ...options });
  }

  /** Undefined where no reply was due. */
  async raw(text: string, exchange: Exchange = this.exchange): Promise<ShellReply | undefined> {
    const reply = await this.shell.handle(parse(text), exchange);
    return reply && { ...JSON.parse(reply.text), status: reply.status };
  }

  async send(message: object, exchange?: Exchange): Promise<ShellReply> {
    return (await this.raw(JSON.stringify({ jsonrpc: "2.0", ...message }), exchange)) as ShellReply;
  }

  /** A request of the session. */
  ask(method: string, params: JsonObject = {}, exchange?: Exchange): Promise<ShellReply> {
    return this.send({ id: `r${++this.#lastId}`, method, params }, exchange);
  }

  /** A modern request. */
  modern(method: string, params: JsonObject = {}, way?: Way): Promise<ShellReply> {
    const _meta = { ...modernMeta, ...(params["_meta"] as JsonObject) };
    return this.ask(method, { ...params, _meta }, way?.exchange ?? wayOf().exchange);
  }

  /** A modern request of a client that can answer everything. */
  able(method: string, params: JsonObject = {}, way?: Way): Promise<ShellReply> {
    const _meta = { [metaKeys.clientCapabilities]: every, ...(params["_meta"] as JsonObject) };
    return this.modern(method, { ...params, _meta }, way);
  }

  async initialize(capabilities: JsonObject = {}, protocolVersion: string = legacyVersions[0]) {
    const clientInfo = { name: "c", version: "2" };
    const reply = await this.ask("initialize", { protocolVersion, capabilities, clientInfo });
    await this.send({ method: "notifications/initialized" });
    return reply;
  }
}

type Run = (args: JsonObject, ctx: ToolContext) => ToolOutput | Promise<ToolOutput>;

/** A provider of these tools, and of what else a test gives it. */
export function providerOf(tools: Record<string, Run>, more: Partial<ToolProvider> = {}): ToolProvider {
  return {
    namespace: "fs",
    listTools: async () =>
      Object.keys(tools).map((name): ToolDefinition => ({ name, inputSchema: { type: "object" } })),
    callTool: async (name, args, ctx) => {
      const run = tools[name];
      if (!run) throw ToolError.notFound(name);
      return run(args, ctx);
    },
    ...more,
  };
}

/** The real call path over one provider, whose names are what callers say. */
export function callerTo(provider: ToolProvider, middleware: readonly Middleware[] = []): Caller {
  return createCaller({ resolver: new Mount(provider, { log: () => {} }), middleware });
}

export const textOf = (reply: ShellReply): string => reply.result.content[0].text;
