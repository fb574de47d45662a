import type { Cancellation } from "../core/cancellation.ts";
import type { Clock, Timer } from "../core/effects.ts";
import type { JsonObject } from "../core/json.ts";
import type { Progress } from "../core/context.ts";
import { Inflight } from "./inflight.ts";
import { isRequestId, RpcError, rpcErrors } from "./jsonrpc.ts";
import type {
  Incoming,
  Invalid,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  RequestId,
} from "./jsonrpc.ts";
import type { Link, SendOptions } from "./link.ts";

export interface PeerOptions {
  readonly clock: Clock;
  /** Requests that may wait for an answer at once. Default 4,096. */
  readonly maxPending?: number;
  /** Answers the other side's requests. Throw an `RpcError` to answer with an error. */
  onRequest?(request: JsonRpcRequest, origin: Origin): Promise<JsonObject> | JsonObject;
  /** `cause` is as in `Origin`. */
  onNotification?(notification: JsonRpcNotification, cause: RequestId | undefined): void;
  /** Something came that is no message, or an answer to nothing. */
  onStray?(incoming: Invalid | { kind: "response"; message: JsonRpcResponse }): void;
}

/** Where a request of the other side belongs. */
export interface Origin {
  /** The request of ours on whose answer's stream it came; undefined where the transport does not tell. */
  readonly cause: RequestId | undefined;
  /** The other side has withdrawn it. */
  readonly cancellation: Cancellation;
}

export interface RequestOptions extends SendOptions {
  /** Milliseconds; restarted by progress. None: only the peer's end or a cancellation ends the wait. */
  readonly timeoutMs?: number;
  readonly cancellation?: Cancellation;
  /** Tells the request's id before it is sent. */
  onId?(id: RequestId): void;
  onProgress?(progress: Progress): void;
}

interface Pending {
  settle(): void;
  resolve(result: JsonObject): void;
  reject(error: Error): void;
  onProgress: ((progress: Progress) => void) | undefined;
  timer: Timer | undefined;
}

/** Requests of the other side whose answers may be on their way at once. Beyond, they get none. */
const maxServing = 100;

/** The request was cancelled here; the other side has been told. */
export class CancelledError extends Error {
  override readonly name = "CancelledError";
}

/** No answer in time; the other side has been told to stop. */
export class TimeoutError extends Error {
  override readonly name = "TimeoutError";
}

/** A message from the other side was longer than `limit` bytes: it may have been the answer. */
export class OversizedError extends Error {
  override readonly name = "OversizedError";
  readonly limit: number | undefined;

  constructor(limit?: number) {
    super(`a message was longer than the limit of ${limit ?? "?"} bytes`);
    this.limit = limit;
  }
}

/** The side that asks: requests with ids, their answers, progress, cancellation and bounds, over any link. */
export class Peer {
  readonly #options: PeerOptions;
  readonly #pending = new Map<RequestId, Pending>();
  #link: Link | undefined;
  #lastId = 0;
  readonly #serving = new Inflight();
  #closed: Error | undefined;

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  /** The link whose messages `receive` gets. Requests made before it is here are refused. */
  attach(link: Link): void {
    this.#link = link;
  }

  /**
   * Sends a request. Rejects with `RpcError` if the peer answers with an error, `CancelledError`,
   * `TimeoutError`, or the `Error` with which the link ended.
   */
  request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    const link = this.#link;
    if (this.#closed || !link) return Promise.reject(this.#closed ?? new Error("not connected"));
    if (this.#pending.size >= (this.#options.maxPending ?? 4096))
      return Promise.reject(new Error(`more than ${this.#pending.size} requests wait for an answer`));
    if (options.cancellation?.cancelled) return Promise.reject(new CancelledError("cancelled"));
    const id = ++this.#lastId;
    options.onId?.(id);
    return new Promise((resolve, reject) => {
      this.#track(id, resolve, reject, options);
      const message: JsonRpcRequest = { jsonrpc: "2.0", id, method, params: withToken(params, id, options) };
      void (async () => link.send(message, options))().catch((error: Error) => this.#fail(id, error));
    });
  }

  /** Resolves when the notification is on its way, or cannot be sent. Never rejects. */
  notify(method: string, params?: JsonObject): Promise<void> {
    const notification: JsonRpcNotification = { jsonrpc: "2.0", method, ...(params && { params }) };
    // A link that cannot send is about to report its end: there is nobody else to tell.
    return (async () => this.#link?.send(notification))().catch(() => {});
  }

  /** Takes what came over the link. */
  receive(incoming: Incoming, cause?: RequestId): void {
    switch (incoming.kind) {
      case "response":
        return this.#answer(incoming);
      case "request":
        return void this.#serve(incoming.message, cause);
      case "notification":
        return this.#notification(incoming.message, cause);
      case "batch":
        for (const one of incoming.messages) this.receive(one, cause);
        return;
      case "invalid":
        return this.#invalid(incoming);
    }
  }

  /** Everything that waits is rejected with `error`, and so is every later request. */
  close(error: Error): void {
    if (this.#closed) return;
    this.#closed = error;
    this.#serving.cancelAll(error);
    for (const id of this.#pending.keys()) this.#fail(id, error);
  }

  #track(
    id: RequestId,
    resolve: Pending["resolve"],
    reject: Pending["reject"],
    options: RequestOptions,
  ): void {
    const { timeoutMs, cancellation, onProgress } = options;
    const stopListening = cancellation?.onCancel((reason) =>
      this.#withdraw(id, new CancelledError("cancelled"), reason),
    );
    const timer =
      timeoutMs === undefined
        ? undefined
        : this.#options.clock.timer(() => {
            this.#withdraw(id, new TimeoutError(`no answer within ${timeoutMs} ms`), "timed out");
          }, timeoutMs);
    const pending: Pending = {
      settle: () => {
        stopListening?.();
        timer?.stop();
        this.#pending.delete(id);
        // A Map's old tables may keep the entry for long: it must not keep the answer.
        pending.resolve = pending.reject = () => {};
      },
      resolve,
      reject,
      timer,
      onProgress,
    };
    this.#pending.set(id, pending);
  }

  #withdraw(id: RequestId, error: Error, reason: unknown): void {
    if (!this.#pending.has(id)) return;
    this.#fail(id, error);
    if (this.#link?.cancel?.(id)) return;
    void this.notify("notifications/cancelled", { requestId: id, reason: textOf(reason) });
  }

  #fail(id: RequestId, error: Error): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    const { reject } = pending;
    pending.settle();
    reject(error);
  }

  #answer(incoming: { kind: "response"; message: JsonRpcResponse }): void {
    const { message } = incoming;
    const id = message.id;
    const pending = id === undefined || id === null ? undefined : this.#pending.get(id);
    if (!pending) return this.#options.onStray?.(incoming);
    const { resolve, reject } = pending;
    pending.settle();
    if ("result" in message) resolve(message.result);
    else reject(new RpcError(message.error.code, message.error.message, { data: message.error.data }));
  }

  /** What may have been an answer fails the request: nothing else would ever end it. */
  #invalid(incoming: Invalid): void {
    const { id, reason, limit } = incoming;
    if (id !== undefined && this.#pending.has(id)) {
      const error =
        reason === "size" ? new OversizedError(limit) : new Error("its answer is not a JSON-RPC response");
      return this.#fail(id, error);
    }
    this.#options.onStray?.(incoming);
    // Too long to be read: it may have answered any of them.
    if (reason !== "size" || id !== undefined) return;
    for (const waiting of this.#pending.keys())
      this.#withdraw(waiting, new OversizedError(limit), "a message was too long");
  }

  #notification(notification: JsonRpcNotification, cause: RequestId | undefined): void {
    const { method, params = {} } = notification;
    if (method === "notifications/progress") return this.#progress(params);
    const withdrawn = method === "notifications/cancelled" ? params["requestId"] : undefined;
    if (isRequestId(withdrawn)) this.#serving.cancel(withdrawn, "withdrawn by the other side");
    this.#options.onNotification?.(notification, cause);
  }

  #progress({ progressToken, progress, total, message }: JsonObject): void {
    // The token of a request is its id.
    const pending = this.#pending.get(progressToken as RequestId);
    if (!pending || typeof progress !== "number") return;
    pending.timer?.restart();
    pending.onProgress?.({
      progress,
      ...(typeof total === "number" && { total }),
      ...(typeof message === "string" && { message }),
    });
  }

  async #serve(request: JsonRpcRequest, cause: RequestId | undefined): Promise<void> {
    const { id } = request;
    const cancellation = this.#serving.size < maxServing ? this.#serving.begin(id) : undefined;
    if (!cancellation) return;
    const reply = await this.#replyTo(request, { cause, cancellation });
    // As in `notify`: a link that cannot send reports its own end. Who has withdrawn a question wants no answer.
    if (!cancellation.cancelled) await (async () => this.#link?.send(reply))().catch(() => {});
    this.#serving.end(id);
  }

  async #replyTo(request: JsonRpcRequest, origin: Origin): Promise<JsonRpcResponse> {
    try {
      if (!this.#options.onRequest) throw methodNotFound(request.method);
      return { jsonrpc: "2.0", id: request.id, result: await this.#options.onRequest(request, origin) };
    } catch (error) {
      const known =
        error instanceof RpcError ? error : new RpcError(rpcErrors.internalError, "Internal error");
      return known.toResponse(request.id);
    }
  }
}

function textOf(reason: unknown): string {
  if (reason instanceof Error) return reason.message;
  return typeof reason === "string" ? reason : "cancelled";
}

/** `status` is what HTTP answers with. */
export function methodNotFound(method: string, status = 200): RpcError {
  return new RpcError(rpcErrors.methodNotFound, `Method not found: ${method}`, { status });
}

function withToken(params: JsonObject, id: RequestId, options: RequestOptions): JsonObject {
  if (!options.onProgress) return params;
  return { ...params, _meta: { ...(params["_meta"] as JsonObject | undefined), progressToken: id } };
}
