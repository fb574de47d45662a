import { localPrincipal, type Principal } from "../core/principal.ts";
import { Session, type Endpoint, type Exchange } from "../wire/endpoint.ts";
import { encode, parse } from "../wire/jsonrpc.ts";
import type { Dial, LinkEvents } from "../wire/link.ts";

/**
 * Dials an endpoint of this process. Every link is a session of its own. Messages pass as text, as on any wire,
 * and always a microtask later.
 */
export function memoryPair(endpoint: Endpoint, principal: Principal = localPrincipal): Dial {
  return async (events: LinkEvents) => {
    let open = true;
    const receive = (text: string): void =>
      queueMicrotask(() => {
        if (open) events.message(parse(text));
      });
    const session = new Session((message) => receive(encode(message)));
    const exchange: Exchange = {
      principal,
      session,
      send(message) {
        session.send(message);
        return open;
      },
    };
    const serve = async (text: string): Promise<void> => {
      if (!open) return;
      const reply = await endpoint.handle(parse(text), exchange);
      if (reply) receive(reply.text);
    };
    return {
      send(message) {
        if (!open) throw new Error("the link is closed");
        const text = encode(message);
        queueMicrotask(() => void serve(text));
      },
      async close() {
        if (!open) return;
        open = false;
        endpoint.closed(session);
      },
    };
  };
}
