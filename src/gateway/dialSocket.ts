import type { Clock } from "../core/effects.ts";
import { dialTcp } from "../transports/tcp.ts";
import { dialUnix } from "../transports/unix.ts";
import { dialWebSocket } from "../transports/websocket/dial.ts";
import type { Dial } from "../wire/link.ts";
import type { SocketTarget } from "./types.ts";

/** How an upstream is reached by a connection that stays. */
export function dialSocket(
  target: SocketTarget,
  options: { readonly maxMessageBytes: number; readonly clock: Clock },
): Dial {
  switch (target.scheme) {
    case "tcp":
      return dialTcp({ ...options, ...target });
    case "unix":
      return dialUnix({ ...options, ...target });
    case "ws":
      return dialWebSocket({ ...options, ...target });
  }
}
