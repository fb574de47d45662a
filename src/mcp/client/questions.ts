import type { Cancellation } from "../../core/cancellation.ts";
import type { InputRequest } from "../../core/context.ts";
import { ToolError } from "../../core/errors.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import { RpcError, rpcErrors, type JsonRpcRequest } from "../../wire/jsonrpc.ts";
import type { Origin } from "../../wire/peer.ts";
import { named } from "./failure.ts";
import type { NoOwner, RunningCall, RunningCalls } from "./runningCalls.ts";

/** What a legacy server may ask of a client: these are the capabilities that `initialize` declares. */
const questions: readonly string[] = [
  "elicitation/create",
  "sampling/createMessage",
  "roots/list",
] satisfies InputRequest["method"][];

export function isQuestionMethod(method: unknown): method is InputRequest["method"] {
  return typeof method === "string" && questions.includes(method);
}

/**
 * Puts a server's question to the client whose call it belongs to. Rejects with an `RpcError` for the server where
 * there is no such call, or its client cannot or will not answer. When the server withdraws the question, or the
 * call ends first, nobody waits for the answer any more.
 */
export async function relayQuestion(
  { method, params = {} }: JsonRpcRequest,
  { cause, cancellation }: Origin,
  { namespace, calls }: { namespace: string; calls: RunningCalls },
): Promise<JsonObject> {
  const call = calls.owner(cause);
  if (typeof call === "string") throw refusal(method, namespace, call);
  try {
    const answer = call.ctx.ask({ method: method as InputRequest["method"], params });
    return await whileWanted(answer, cancellation, call);
  } catch (error) {
    throw error instanceof ToolError ? toRpcError(error) : error;
  }
}

function refusal(method: string, namespace: string, why: NoOwner): RpcError {
  const reason =
    why === "none"
      ? "no call is in flight that it could belong to"
      : `several principals have calls in flight here, and nothing tells whose call it belongs to: ` +
        `set "isolation": "principal" for this server in the gateway's configuration`;
  return new RpcError(
    rpcErrors.invalidRequest,
    `${method} of ${named(namespace)} cannot be relayed: ${reason}.`,
  );
}

function whileWanted<T>(answer: Promise<T>, withdrawn: Cancellation, call: RunningCall): Promise<T> {
  return new Promise((resolve, reject) => {
    const over = (reason: unknown): void =>
      reject(
        new RpcError(rpcErrors.internalError, `Nobody waits for the answer any more: ${String(reason)}`),
      );
    const stops = [withdrawn.onCancel(over), call.questions.onCancel(over)];
    answer.then(resolve, reject).finally(() => stops.forEach((stop) => stop()));
  });
}

/** What the client said where it answered with an error; -32601 where there is no way to ask it. */
function toRpcError({ code, message, data }: ToolError): RpcError {
  const said = code === "ClientRefused" && isObject(data) ? data["error"] : undefined;
  if (isObject(said) && Number.isInteger(said["code"]))
    return new RpcError(said["code"] as number, String(said["message"]), { data: said["data"] });
  const cannot = code === "Unsupported" || code === "MissingClientCapability";
  return new RpcError(cannot ? rpcErrors.methodNotFound : rpcErrors.internalError, message);
}
