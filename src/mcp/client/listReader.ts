import { Cancellation } from "../../core/cancellation.ts";
import type { Clock, Log } from "../../core/effects.ts";
import type { JsonObject } from "../../core/json.ts";
import { RpcError, rpcErrors } from "../../wire/jsonrpc.ts";
import { paramHeaders, type ParamHeader } from "../../wire/paramHeaders.ts";
import { CancelledError, TimeoutError } from "../../wire/peer.ts";
import { listPages, type List } from "./listPages.ts";
import { lists, takerOf, type ListName } from "./lists.ts";
import type { Requests } from "./requests.ts";

export interface ListReaderOptions {
  readonly namespace: string;
  readonly requests: Requests;
  readonly clock: Clock;
  readonly log: Log;
  /** How long all pages of a list may take together, in milliseconds. Default 30,000. */
  readonly listMs?: number;
}

const none: List = { entries: [], ttlMs: 0 };

/** Reads a server's lists, and knows from the last one which arguments of a tool go into headers. */
export class ListReader {
  readonly #options: ListReaderOptions;
  #headers = new Map<string, readonly ParamHeader[]>();

  constructor(options: ListReaderOptions) {
    this.#options = options;
  }

  /** The arguments of a tool that a modern server wants repeated in headers. */
  headersOf(tool: string): readonly ParamHeader[] | undefined {
    return this.#headers.get(tool);
  }

  /** All pages. Tools are asked for even where they are not announced: servers forget to. */
  async read(name: ListName): Promise<List> {
    const { requests, clock, listMs = 30_000 } = this.#options;
    const { kind, noun } = lists[name];
    const { capabilities } = requests.terms;
    if (kind !== "tools" && capabilities[kind] === undefined) return none;
    const cancellation = new Cancellation();
    const timer = clock.timer(() => cancellation.cancel("timed out"), listMs);
    try {
      return await this.#pages(name, cancellation);
    } catch (error) {
      // Some announce resources and know nothing of templates.
      if (isUnknownMethod(error) && (kind !== "tools" || capabilities["tools"] === undefined)) return none;
      const late = error instanceof CancelledError ? new TimeoutError(`not within ${listMs} ms`) : error;
      throw requests.failure(`its ${noun}s were listed`, late);
    } finally {
      timer.stop();
    }
  }

  async #pages(name: ListName, cancellation: Cancellation): Promise<List> {
    const { namespace, requests, log } = this.#options;
    const { method, key, noun } = lists[name];
    const isModern = requests.terms.era === "modern";
    const list = await listPages({
      namespace,
      log,
      method,
      member: name,
      key,
      noun,
      take: takerOf(name, isModern),
      ask: (params) => requests.own(method, params, { cancellation }),
    });
    if (isModern && name === "tools") this.#headers = headersByTool(list.entries);
    return list;
  }
}

function headersByTool(tools: readonly JsonObject[]): Map<string, readonly ParamHeader[]> {
  const byTool = new Map<string, readonly ParamHeader[]>();
  for (const { name, inputSchema } of tools) {
    const headers = paramHeaders(inputSchema as JsonObject);
    if (typeof headers !== "string" && headers.length > 0) byTool.set(name as string, headers);
  }
  return byTool;
}

function isUnknownMethod(error: unknown): boolean {
  return error instanceof RpcError && error.code === rpcErrors.methodNotFound;
}
