import type { Endpoint, Exchange, Session } from "../../src/wire/endpoint.ts";
import { encode, resultResponse, type Incoming } from "../../src/wire/jsonrpc.ts";

/** Answers every request with its method and parameters, and keeps what it was told. */
export class EchoEndpoint implements Endpoint {
  readonly seen: Incoming[] = [];
  readonly exchanges: Exchange[] = [];
  readonly ended: Session[] = [];

  handle(incoming: Incoming, exchange: Exchange): ReturnType<Endpoint["handle"]> {
    this.seen.push(incoming);
    this.exchanges.push(exchange);
    if (incoming.kind === "invalid") return { text: '{"invalid":true}', status: 400 };
    if (incoming.kind !== "request") return undefined;
    const { id, method, params } = incoming.message;
    return { text: encode(resultResponse(id, { method, params })), status: 200 };
  }

  closed(session: Session): void {
    this.ended.push(session);
  }
}
