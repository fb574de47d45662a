import type { IncomingMessage } from "node:http";
import { parse, type Incoming, type JsonRpcMessage, type RequestId } from "../../wire/jsonrpc.ts";
import { isEventStream, readText, TooLarge } from "./dialBody.ts";
import { HttpError, SessionLost, startOf } from "./dialErrors.ts";
import { StreamCursor } from "./dialResume.ts";

/** The request that a POST carried, and where its answer goes. */
export interface Asked {
  /** Absent: a notification or an answer of ours, to which nothing comes back. */
  readonly id: RequestId | undefined;
  /** For messages to a person. */
  readonly address: string;
  readonly maxBytes: number;
  /** The POST named a legacy session. */
  readonly inSession: boolean;
  onMessage(incoming: Incoming): void;
  /** The answer has come on a stream that may still be open; nobody waits for more. */
  onStreamAnswered(): void;
  /** Takes up a stream that ended before the answer. Absent where streams cannot be taken up. */
  resume?(cursor: StreamCursor): Promise<IncomingMessage>;
}

export function idOf(message: JsonRpcMessage): RequestId | undefined {
  return "method" in message && "id" in message ? message.id : undefined;
}

/**
 * Reads the answer to one POST and passes on its messages. Resolves when the request has been answered, by
 * whatever message; rejects with `SessionLost` or `HttpError` if it never will be.
 */
export async function readAnswer(response: IncomingMessage, asked: Asked): Promise<void> {
  try {
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299) await refused(response, status, asked);
    else await accepted(response, status, asked);
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    const { id, maxBytes } = asked;
    asked.onMessage({ kind: "invalid", reason: "size", limit: maxBytes, ...(id !== undefined && { id }) });
  }
}

/** What an answer without a 2xx status says to a person. `text` is its body. */
export function httpError(response: IncomingMessage, address: string, text: string): HttpError {
  const status = response.statusCode ?? 0;
  const says = redirect(response) ?? startOf(text);
  return new HttpError(
    status,
    `HTTP ${status} from ${address}: ${says}`,
    response.headers["www-authenticate"],
  );
}

async function accepted(response: IncomingMessage, status: number, asked: Asked): Promise<void> {
  const stream = isEventStream(response);
  if (asked.id === undefined) {
    if (stream) return void response.destroy();
    return void (await readText(response, asked.maxBytes));
  }
  let answered = false;
  const receive = (incoming: Incoming): void => {
    if (!answered && holdsAnswer(incoming, asked.id!)) {
      answered = true;
      if (stream) asked.onStreamAnswered();
    }
    asked.onMessage(incoming);
  };
  if (stream) await streamed(response, asked, receive, () => answered);
  else await single(response, status, asked, receive);
  if (!answered)
    throw new HttpError(status, `${asked.address} ended its response (HTTP ${status}) without an answer.`);
}

/** Reads a stream until the answer is here, over as many responses as it takes. */
async function streamed(
  response: IncomingMessage,
  asked: Asked,
  receive: (incoming: Incoming) => void,
  answered: () => boolean,
): Promise<void> {
  const cursor = new StreamCursor();
  for (let current = response; ;) {
    const failure = await cursor.read(current, asked.maxBytes, receive).catch((error: Error) => error);
    // Once the answer is here it does not matter how the stream ends.
    if (answered()) return;
    if (failure instanceof TooLarge) throw failure;
    if (!asked.resume || !cursor.resumable) {
      if (failure) throw broken(asked, failure);
      return;
    }
    current = await asked.resume(cursor).catch((error: Error) => {
      throw broken(asked, error);
    });
  }
}

async function single(
  response: IncomingMessage,
  status: number,
  asked: Asked,
  receive: (incoming: Incoming) => void,
): Promise<void> {
  const text = await readText(response, asked.maxBytes).catch((error: Error) => {
    throw error instanceof TooLarge ? error : broken(asked, error);
  });
  if (text === "") return;
  const incoming = parse(text);
  if (incoming.kind !== "invalid") return receive(incoming);
  throw new HttpError(status, `${asked.address} answered with something that is not MCP: ${startOf(text)}`);
}

/** Not a 2xx status: a JSON-RPC error in the body is the answer, anything else fails the request. */
async function refused(response: IncomingMessage, status: number, asked: Asked): Promise<void> {
  const text = await readText(response, asked.maxBytes).catch(() => "");
  const incoming = parse(text);
  const error =
    incoming.kind === "response" && "error" in incoming.message ? incoming.message.error : undefined;
  if (asked.inSession && losesSession(status, text, error?.code))
    throw new SessionLost(`${asked.address} does not know the session any more (HTTP ${status}).`);
  // A login is wanted, whatever the body says.
  const denied = status === 401 || status === 403;
  const ours = incoming.kind === "response" && (incoming.message.id ?? asked.id) === asked.id;
  if (error && ours && !denied && asked.id !== undefined)
    return asked.onMessage({ kind: "response", message: { jsonrpc: "2.0", id: asked.id, error } });
  throw httpError(response, asked.address, text);
}

// The specification wants 404. Servers after the official SDK's example say 400 and that there is no valid session.
function losesSession(status: number, text: string, code: number | undefined): boolean {
  if (status === 404) return code !== -32601;
  return status === 400 && /\bsession\b/i.test(text);
}

function redirect(response: IncomingMessage): string | undefined {
  const { location } = response.headers;
  const status = response.statusCode ?? 0;
  if (status < 300 || status > 399 || location === undefined) return undefined;
  const target = location.replace(/[?#].*$/s, "").replace(/\/\/[^/@]*@/, "//");
  return `it redirects to ${startOf(target)}, and redirects are not followed. If that is the server, configure that address.`;
}

function holdsAnswer(incoming: Incoming, id: RequestId): boolean {
  if (incoming.kind === "batch") return incoming.messages.some((one) => holdsAnswer(one, id));
  if (incoming.kind === "invalid") return incoming.id === id;
  return incoming.kind === "response" && incoming.message.id === id;
}

function broken(asked: Asked, error: Error): Error {
  return new Error(`The connection to ${asked.address} broke before the answer: ${error.message}`, {
    cause: error,
  });
}
