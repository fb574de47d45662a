import type { Clock } from "../core/effects.ts";
import type { Endpoint } from "../wire/endpoint.ts";
import {
  RpcError,
  rpcErrors,
  type Incoming,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type RequestId,
} from "../wire/jsonrpc.ts";
import type { Dial } from "../wire/link.ts";
import { metaOf } from "../wire/protocol.ts";
import { authorityOf, bind, type BindOptions } from "./bind.ts";
import type { Authenticate } from "./http/bearer.ts";
import { LineServer } from "./lineServer.ts";
import type { Admission, Gate } from "./messageServer.ts";
import { socketLink } from "./socketLink.ts";
import type { SocketListener, SocketListenOptions } from "./socketListener.ts";

/** The key in `_meta` of a client's first request that carries its bearer token. */
const tokenKey = "dev.toolgate/token";
/** What a client may send, in bytes, and how long it may take, in milliseconds, before anybody knows who it is. */
const stranger = { maxBytes: 64 * 1024, ms: 10_000 };

export interface TcpListenOptions extends SocketListenOptions, BindOptions {
  readonly endpoint: Endpoint;
  /** Is given `Bearer <token>`, or undefined where the client has sent no token. */
  readonly authenticate: Authenticate;
  readonly clock: Clock;
}

export interface TcpListener extends SocketListener {
  readonly port: number;
}

/**
 * Serves an endpoint on a TCP port, a message a line. TCP has no headers, so a client sends its token as
 * `dev.toolgate/token` in `_meta` of its first request, whatever that asks. Without a token of this server the request
 * is answered with an error; a client that begins with anything else, as a web page does whose POST reaches the port,
 * gets no answer. Either way the connection is closed. Rejects with an `Error` for a person, with the system's `code`,
 * if it cannot listen.
 */
export async function listenTcp(options: TcpListenOptions): Promise<TcpListener> {
  const { endpoint, host, authenticate, clock } = options;
  const lines = new LineServer(endpoint, {
    ...options,
    gate: tokenGate(authenticate),
    maxFirstBytes: Math.min(stranger.maxBytes, options.maxMessageBytes ?? stranger.maxBytes),
    patience: { clock, ms: stranger.ms },
  });
  const port = await bind(lines.server, options, "--tcp");
  return { url: `tcp://${authorityOf({ host, port })}`, port, close: () => lines.close() };
}

function tokenGate(authenticate: Authenticate): Gate {
  return {
    admit(first): Admission {
      if (first.kind === "invalid" && first.reason === "size")
        return refusal(
          undefined,
          `The first message may have ${first.limit} bytes, until the token is known`,
        );
      if (first.kind !== "request") return { refusal: undefined };
      const token = metaOf(first.message)[tokenKey];
      const principal = authenticate(typeof token === "string" ? `Bearer ${token}` : undefined);
      if (principal) return { principal };
      const problem = token === undefined ? "This server wants a token" : "The token is not valid here";
      return refusal(first.message.id, problem);
    },
    strip: forgetToken,
  };
}

function refusal(id: RequestId | undefined, problem: string): Admission {
  const message = `${problem}. Send a token of this server as "${tokenKey}" in _meta of the first request.`;
  return { refusal: new RpcError(rpcErrors.invalidRequest, message).toResponse(id) };
}

/** A client may well send it with every message: what the endpoint passes on must not hold it. */
function forgetToken(incoming: Incoming): void {
  if (incoming.kind === "batch") incoming.messages.forEach(forgetToken);
  if (incoming.kind === "request" || incoming.kind === "notification")
    delete metaOf(incoming.message)[tokenKey];
}

export interface DialTcpOptions extends BindOptions {
  /** Sent with the first request of each connection, as `listenTcp` wants it. */
  readonly token?: string;
  /** Default 32 MiB. */
  readonly maxMessageBytes?: number;
}

/** Reaches a server on a TCP port, a message a line. */
export function dialTcp({ host, port, token, ...options }: DialTcpOptions): Dial {
  return async (events) => {
    const address = `tcp://${authorityOf({ host, port })}`;
    const link = await socketLink({ ...options, target: { host, port }, address, events });
    let unsent = token;
    return {
      send(message) {
        if (unsent === undefined || !isRequest(message)) return link.send(message);
        const first = withToken(message, unsent);
        unsent = undefined;
        return link.send(first);
      },
      close: () => link.close(),
    };
  };
}

function isRequest(message: JsonRpcMessage): message is JsonRpcRequest {
  return "method" in message && "id" in message;
}

function withToken(message: JsonRpcRequest, token: string): JsonRpcRequest {
  return { ...message, params: { ...message.params, _meta: { ...metaOf(message), [tokenKey]: token } } };
}
