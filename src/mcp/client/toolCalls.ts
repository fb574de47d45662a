import type { ToolContext } from "../../core/context.ts";
import type { JsonObject } from "../../core/json.ts";
import type { OperationResult } from "../../core/result.ts";
import { RpcError, rpcErrors } from "../../wire/jsonrpc.ts";
import { paramHeaderValues } from "../../wire/paramHeaders.ts";
import type { ListReader } from "./listReader.ts";
import type { Requests } from "./requests.ts";
import type { RunningCall } from "./runningCalls.ts";
import { toToolResult } from "./toolResult.ts";

export interface ToolCallsOptions {
  readonly namespace: string;
  readonly requests: Requests;
  readonly lists: ListReader;
}

/** Calls a server's tools. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  async call(name: string, args: JsonObject, ctx: ToolContext): Promise<OperationResult> {
    const { namespace, requests, lists } = this.#options;
    const call = requests.enter(ctx);
    try {
      const result = await this.#send(call, name, args).catch((error: unknown) => {
        if (!isHeaderMismatch(error)) throw error;
        // The schema behind its headers has changed, and nothing has run (Streamable HTTP, Client Behavior).
        return lists.read("tools").then(() => this.#send(call, name, args));
      });
      return toToolResult(result, ctx, { namespace, what: name });
    } catch (error) {
      throw requests.failure(`${name} was called`, error);
    } finally {
      requests.leave(call);
    }
  }

  #send(call: RunningCall, name: string, args: JsonObject): Promise<JsonObject> {
    const { requests, lists } = this.#options;
    const headers = lists.headersOf(name);
    const params = { name, arguments: args };
    return requests.send(call, "tools/call", params, headers && paramHeaderValues(headers, args));
  }
}

function isHeaderMismatch(error: unknown): boolean {
  return error instanceof RpcError && error.code === rpcErrors.headerMismatch;
}
