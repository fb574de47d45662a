import type { JsonRpcMessage, RequestId } from "../../wire/jsonrpc.ts";
import type { Link, SendOptions } from "../../wire/link.ts";
import { HttpError } from "./dialErrors.ts";
import type { SseLink } from "./dialSse.ts";

/**
 * A link by Streamable HTTP that becomes one by HTTP+SSE if the server proves to be that old (specification
 * 2025-11-25, basic/transports, Backwards Compatibility): it refuses `initialize` with 400, 404 or 405, and GET
 * opens a stream that names an endpoint. What it says to `server/discover` before decides nothing: to a client of
 * both eras that only means `initialize`.
 */
export class FallbackLink implements Link {
  readonly #openSse: () => SseLink;
  #link: Link;
  #tried: SseLink | undefined;

  constructor(link: Link, openSse: () => SseLink) {
    this.#link = link;
    this.#openSse = openSse;
  }

  async send(message: JsonRpcMessage, extra?: SendOptions): Promise<void> {
    try {
      return await this.#link.send(message, extra);
    } catch (error) {
      if (!mayBeSse(message, error) || this.#tried) throw error;
      await this.#fallBack(error);
      return await this.#link.send(message, extra);
    }
  }

  cancel(id: RequestId): boolean {
    return this.#link.cancel?.(id) ?? false;
  }

  negotiated(protocolVersion: string): void {
    this.#link.negotiated?.(protocolVersion);
  }

  async close(): Promise<void> {
    await Promise.all([this.#tried?.close(), this.#link.close()]);
  }

  async #fallBack(refusal: HttpError): Promise<void> {
    const sse = (this.#tried = this.#openSse());
    try {
      await sse.open();
    } catch (error) {
      await sse.close();
      const { status, message, wwwAuthenticate } = refusal;
      const both = `${message} (Nor is it an HTTP+SSE server: ${(error as Error).message})`;
      throw new HttpError(status, both, wwwAuthenticate);
    }
    await this.#link.close();
    this.#link = sse;
  }
}

function mayBeSse(message: JsonRpcMessage, error: unknown): error is HttpError {
  const isInitialize = "method" in message && message.method === "initialize";
  return isInitialize && error instanceof HttpError && [400, 404, 405].includes(error.status);
}
