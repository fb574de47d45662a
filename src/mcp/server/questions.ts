import type { Cancellation } from "../../core/cancellation.ts";
import type { InputRequest } from "../../core/context.ts";
import { ToolError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ServerMessage, Session } from "../../wire/endpoint.ts";
import { RpcError, type JsonRpcMessage } from "../../wire/jsonrpc.ts";
import { CancelledError, Peer } from "../../wire/peer.ts";
import { unaskable } from "./clientCapabilities.ts";
import type { MethodRequest, Server } from "./method.ts";
import { OpenQuestions } from "./openQuestions.ts";

/** Questions of one session that may wait at once. */
const maxPending = 100;

/** What a request of a legacy client asks that client while it runs. */
export class Questions {
  readonly #server: Server;
  readonly #request: MethodRequest;
  /** Made with the first one: few calls ask. */
  #cancellation: Cancellation | undefined;
  readonly #open = new OpenQuestions();
  #ended = false;

  constructor(server: Server, request: MethodRequest) {
    this.#server = server;
    this.#request = request;
  }

  /**
   * By a request of our own, on the way of the request that the question belongs to. Rejects with `ToolError`:
   * `MissingClientCapability`, `ClientRefused`, `Cancelled`, `ExecutionFailed` beyond the bounds, or `Unsupported` where there is no way.
   */
  async ask(question: InputRequest): Promise<JsonObject> {
    if (this.#ended) throw new ToolError("Cancelled", "The call is over: the client is asked nothing more.");
    const leave = this.#open.enter(question);
    this.#cancellation ??= this.#request.cancellation.child();
    try {
      return await askClient(this.#server, { ...this.#request, cancellation: this.#cancellation }, question);
    } finally {
      leave();
    }
  }

  /** The request is over: what waits is withdrawn, and nothing more is asked. */
  end(): void {
    this.#ended = true;
    this.#cancellation?.cancel("the call is over");
    this.#cancellation?.release();
  }
}

async function askClient(
  server: Server,
  request: MethodRequest,
  question: InputRequest,
): Promise<JsonObject> {
  const { exchange, cancellation, clientCapabilities } = request;
  const { session } = exchange;
  if (!session) throw new ToolError("Unsupported", `This door cannot ask the client for ${question.method}.`);
  const lacking = unaskable(question, clientCapabilities);
  if (lacking) throw lacking;
  const { method, params } = question;
  try {
    return await peerOf(session, server).request(method, params, {
      cancellation,
      timeoutMs: server.answerMs,
      via: (message) => {
        // A response that takes no stream has no room for a question: the session's own stream has.
        if (!exchange.send(message as ServerMessage)) session.send(message as ServerMessage);
      },
    });
  } catch (error) {
    throw refusal(error, method);
  }
}

function peerOf(session: Session, { clock }: Server): Peer {
  if (session.peer) return session.peer;
  const peer = new Peer({ clock, maxPending });
  const send = (message: JsonRpcMessage): void => session.send(message as ServerMessage);
  peer.attach({
    send: (message, options) => (options?.via ?? send)(message),
    close: async () => {},
  });
  session.peer = peer;
  return peer;
}

function refusal(error: unknown, method: string): ToolError {
  if (error instanceof CancelledError) return new ToolError("Cancelled", `${method} was cancelled.`);
  const message = error instanceof Error ? error.message : String(error);
  const data =
    error instanceof RpcError
      ? { error: { code: error.code, message, ...(error.data !== undefined && { data: error.data }) } }
      : undefined;
  return new ToolError("ClientRefused", `The client did not answer ${method}: ${message}`, { data });
}
