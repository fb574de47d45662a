import { vi } from "vitest";
import type { Log } from "../../src/core/effects.ts";
import { Upstream, type UpstreamOptions } from "../../src/upstreams/upstream.ts";
import { SessionLost } from "../../src/mcp/client/connect.ts";
import type { Dial } from "../../src/wire/link.ts";
import { FakeClock } from "./fakeClock.ts";
import type { FakeServer } from "./fakeServer.ts";

/** What an upstream `fs` of the server needs. Its pauses are the shortest. */
export function upstreamOptions(
  server: FakeServer,
  options: Omit<Partial<UpstreamOptions>, "clock" | "log"> = {},
) {
  return {
    namespace: "fs",
    dial: server.dial,
    clock: new FakeClock(),
    log: vi.fn<Log>(),
    clientInfo: { name: "toolgate", version: "9" },
    random: () => 0,
    ...options,
  };
}

/** Not started. */
export function supervise(server: FakeServer, options: Parameters<typeof upstreamOptions>[1] = {}) {
  const all = upstreamOptions(server, options);
  return { clock: all.clock, log: all.log, upstream: new Upstream(all) };
}

/** Its first try to connect has ended. */
export async function started(server: FakeServer, options: Parameters<typeof upstreamOptions>[1] = {}) {
  const all = supervise(server, options);
  all.upstream.start();
  await all.upstream.settled();
  return all;
}

/** A legacy server behind HTTP, which forgets its sessions when told to. */
export function forgetful(server: FakeServer): { dial: Dial; forget(): void } {
  let current = 0;
  const dial: Dial = async (events) => {
    const session = ++current;
    const link = await server.dial(events);
    return {
      ...link,
      send(message, extra) {
        if ("method" in message && message.method !== "initialize" && session < current)
          return Promise.reject(new SessionLost("HTTP 404"));
        return link.send(message, extra);
      },
    };
  };
  return { dial, forget: () => void (current += 1) };
}
