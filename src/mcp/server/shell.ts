import { Cancellation } from "../../core/cancellation.ts";
import { describe } from "../../core/errors.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { ListKind } from "../../core/provider.ts";
import type { Endpoint, Exchange, Reply, Session } from "../../wire/endpoint.ts";
import { encode, isRequestId, resultResponse, RpcError, rpcErrors } from "../../wire/jsonrpc.ts";
import type {
  Incoming,
  Invalid,
  JsonRpcNotification,
  JsonRpcRequest,
  RequestId,
} from "../../wire/jsonrpc.ts";
import { eraOf, metaKeys, metaOf, type Era } from "../../wire/protocol.ts";
import { methodNotFound } from "../../wire/peer.ts";
import { checkBatch, joinReplies } from "./batch.ts";
import { Allowance } from "./allowance.ts";
import { createServer, type ShellOptions } from "./createServer.ts";
import { tooMany, type Method, type MethodRequest, type Server } from "./method.ts";
import { methods } from "./methods.ts";
import { checkModern } from "./modern.ts";
import { endSubscriptions } from "./subscriptions.ts";

export type { ShellOptions } from "./createServer.ts";

/** Long requests of one principal that may be in flight at once, together: what is parsed takes many times as much. */
const longPerPrincipal = 32 * 1024 * 1024;

/** An MCP server over a `Caller`: both eras, any door, one connection or thousands. */
export class McpServerShell implements Endpoint {
  readonly #server: Server;
  readonly #sessions = new Set<Session>();
  readonly #stamp: JsonObject;
  readonly #long = new Allowance(longPerPrincipal);

  constructor(options: ShellOptions) {
    this.#server = createServer(options);
    this.#stamp = { [metaKeys.serverInfo]: options.serverInfo };
    this.#server.changes.listen((kind) => this.#listChanged(kind));
  }

  handle(incoming: Incoming, exchange: Exchange): Reply | undefined | Promise<Reply | undefined> {
    switch (incoming.kind) {
      case "request":
        return this.#bounded(incoming, exchange, () => this.#request(incoming.message, exchange));
      case "notification":
        return this.#notification(incoming.message, exchange);
      case "response":
        exchange.session?.peer?.receive(incoming);
        return undefined;
      case "batch":
        return this.#bounded(incoming, exchange, () => this.#batch(incoming.messages, exchange));
      case "invalid":
        return this.#refuse(invalid(incoming, this.#server), incoming.id);
    }
  }

  closed(session: Session): void {
    this.#sessions.delete(session);
    session.inflight.cancelAll("the client is gone");
    session.peer?.close(new Error("the client is gone"));
    endSubscriptions(session, "the client is gone");
  }

  /** Streams of notifications get their last word, and calls that wait for answers end. The doors are closed elsewhere. */
  close(): void {
    this.#server.changes.close();
    this.#server.ending.cancel("the server is stopping");
    this.#server.parking.close();
  }

  #bounded(
    incoming: Extract<Incoming, { length?: number }>,
    { principal }: Exchange,
    run: () => Promise<Reply | undefined>,
  ): Reply | undefined | Promise<Reply | undefined> {
    if (incoming.length === undefined) return run();
    // One alone is as long as its door lets it be.
    const length = Math.min(incoming.length, longPerPrincipal);
    const { id } = principal;
    if (this.#long.take(id, length)) return run().finally(() => this.#long.giveBack(id, length));
    const error = tooMany("Too many long requests in flight: wait for the answers to some first.");
    return this.#refuse(error, incoming.kind === "request" ? incoming.message.id : undefined);
  }

  async #request(message: JsonRpcRequest, exchange: Exchange): Promise<Reply | undefined> {
    const { id } = message;
    const { session } = exchange;
    const cancellation = session
      ? session.inflight.begin(id, exchange.cancellation)
      : (exchange.cancellation ?? new Cancellation());
    if (!cancellation)
      return this.#refuse(
        new RpcError(rpcErrors.invalidRequest, `Request id ${id} is in use`, { status: 400 }),
        id,
      );
    const era = eraOf(message, exchange.headers);
    let answered = false;
    const notify = (notification: JsonRpcNotification): boolean =>
      !answered && !cancellation.cancelled && this.#notify(notification, exchange);
    try {
      const method = this.#method(message, era, exchange);
      const { params = {} } = message;
      const meta = metaOf(message);
      const request: MethodRequest = {
        era,
        message,
        params,
        meta,
        clientCapabilities: capabilitiesOf(era, meta, session),
        exchange,
        cancellation,
        notify,
      };
      const result = await method(this.#server, request);
      if (cancellation.cancelled) return undefined;
      return {
        text: encode(resultResponse(id, era === "modern" ? this.#complete(result) : result)),
        status: 200,
      };
    } catch (error) {
      return cancellation.cancelled ? undefined : this.#refuse(this.#known(error, message.method), id);
    } finally {
      answered = true;
      session?.inflight.end(id);
    }
  }

  /** What a tool reports may be no JSON: that is no reason for it to fail. */
  #notify(notification: JsonRpcNotification, exchange: Exchange): boolean {
    try {
      return exchange.send(notification);
    } catch (error) {
      this.#server.log("warning", `${notification.method} could not be sent`, { error: describe(error) });
      return false;
    }
  }

  /** The method's function, after what its era demands of every request. Throws `RpcError`. */
  #method(message: JsonRpcRequest, era: Era, exchange: Exchange): Method {
    if (era === "modern") checkModern(message, exchange.headers);
    else this.#checkLegacy(message, exchange);
    const method = methods[era].get(message.method);
    if (method) return method;
    throw methodNotFound(message.method, era === "modern" ? 404 : 200);
  }

  #checkLegacy({ method }: JsonRpcRequest, { session, headers }: Exchange): void {
    if (session?.legacy || (session && method === "initialize")) return;
    if (!session && headers)
      throw new RpcError(
        rpcErrors.invalidRequest,
        "The Mcp-Session-Id header is missing. Call initialize first and send the id that it answers with.",
        { status: 400 },
      );
    if (method === "ping" && this.#server.dialect.pingsEarly) return;
    throw new RpcError(rpcErrors.notInitialized, "Server not initialized");
  }

  #notification(message: JsonRpcNotification, exchange: Exchange): undefined {
    const { session } = exchange;
    const { method, params } = message;
    if (method === "notifications/cancelled") {
      const id = params?.["requestId"];
      if (isRequestId(id)) session?.inflight.cancel(id, params?.["reason"] ?? "cancelled by the client");
    } else if (method === "notifications/initialized") {
      if (session?.legacy) this.#sessions.add(session);
    } else if (methods.legacy.has(method) || methods.modern.has(method)) {
      this.#server.log(
        "warning",
        `${method} came without an id: it was not run, and there is nobody to answer`,
      );
    }
    return undefined;
  }

  /** One reply for all: what is wrong with the whole is refused as one. */
  async #batch(messages: readonly Incoming[], exchange: Exchange): Promise<Reply | undefined> {
    try {
      checkBatch(messages.length, exchange.session?.legacy?.protocolVersion);
      return joinReplies(await Promise.all(messages.map(async (message) => this.handle(message, exchange))));
    } catch (error) {
      return this.#refuse(this.#known(error, "batch"));
    }
  }

  /** What a modern result carries beside its members (specification 2026-07-28, basic, Responses). */
  #complete(result: JsonObject): JsonObject {
    const meta = result["_meta"];
    // The object is the method's gift, made for this answer.
    result["resultType"] ??= "complete";
    result["_meta"] = isObject(meta) ? { ...meta, ...this.#stamp } : this.#stamp;
    return result;
  }

  #refuse(error: RpcError, id?: RequestId): Reply {
    const to = id ?? this.#server.dialect.missingId;
    const { code, message, status } = error;
    try {
      return { text: encode(error.toResponse(to)), status };
    } catch (cause) {
      // Its data is a provider's, and may be no JSON.
      this.#server.log("error", "the data of an error could not be sent", { error: describe(cause) });
      return { text: encode(new RpcError(code, message).toResponse(to)), status };
    }
  }

  /** Anything but an `RpcError` is a fault of ours: its message stays in the log. */
  #known(error: unknown, what: string): RpcError {
    if (error instanceof RpcError) return error;
    this.#server.log("error", `${what} failed`, { error: describe(error) });
    return new RpcError(rpcErrors.internalError, "Internal error", { status: 500 });
  }

  #listChanged(kind: ListKind): void {
    for (const session of this.#sessions)
      session.send({ jsonrpc: "2.0", method: `notifications/${kind}/list_changed` });
  }
}

/** A modern request brings them along; a legacy session has them from its `initialize`. */
function capabilitiesOf(era: Era, meta: JsonObject, session: Session | undefined): JsonObject {
  const declared = era === "modern" ? meta[metaKeys.clientCapabilities] : session?.legacy?.capabilities;
  return isObject(declared) ? declared : {};
}

function invalid({ reason, limit }: Invalid, { dialect }: Server): RpcError {
  if (reason === "parse") return dialect.parseError();
  const message = reason === "size" ? `Message too large: the limit is ${limit} bytes` : "Invalid Request";
  return new RpcError(rpcErrors.invalidRequest, message, { status: 400 });
}
