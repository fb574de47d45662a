import { expect, vi } from "vitest";
import type { Log } from "../../src/core/effects.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { ListKind } from "../../src/core/provider.ts";
import { connectUpstream, type ChangeListener, type ConnectOptions } from "../../src/mcp/client/connect.ts";
import { FakeClock } from "./fakeClock.ts";
import type { FakeServer } from "./fakeServer.ts";

/** A connection to the server, as the upstream `fs`. A server that knows no `server/discover` is not probed. */
export async function connected(server: FakeServer, options: Partial<ConnectOptions> = {}) {
  const clock = new FakeClock();
  const log = vi.fn<Log>();
  const connection = await connectUpstream({
    namespace: "fs",
    dial: server.dial,
    clock,
    log,
    clientInfo: { name: "toolgate", version: "9" },
    eraCache: server.answers["server/discover"] ? {} : { era: "legacy" },
    ...options,
  });
  return { clock, log, connection };
}

/** What a promise rejects with. */
export function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => expect.unreachable(`resolved with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
}

/** A listener that keeps what it hears: the kinds of changed lists, the params of updates, and `missed`. */
export function changeListener(): ChangeListener & { readonly heard: (ListKind | JsonObject | "missed")[] } {
  const heard: (ListKind | JsonObject | "missed")[] = [];
  return {
    heard,
    listChanged: (kind) => void heard.push(kind),
    resourceUpdated: (params) => void heard.push(params),
    updatesMissed: () => void heard.push("missed"),
  };
}
