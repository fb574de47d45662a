import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { EchoEndpoint } from "../../test/support/echoEndpoint.ts";
import { systemClock } from "../core/systemClock.ts";
import { bearer } from "../transports/http/bearer.ts";
import type { SocketListener } from "../transports/socketListener.ts";
import { listenTcp } from "../transports/tcp.ts";
import { listenUnix } from "../transports/unix.ts";
import { listenWebSocket } from "../transports/websocket/listen.ts";
import type { LinkEvents } from "../wire/link.ts";
import { dialSocket } from "./dialSocket.ts";
import type { SocketTarget } from "./types.ts";

const token = "0123456789abcdef";
const endpoint = new EchoEndpoint();
const authenticate = bearer(new Map([["ada", token]]));
const common = { host: "127.0.0.1", port: 0, endpoint, clock: systemClock, log: () => {} };
let folder: string;
let listener: SocketListener | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolgate-dial-"));
});

afterEach(async () => {
  await listener?.close();
  await rm(folder, { recursive: true });
});

/** Opens the door of one scheme, and says how to reach it. */
const doors: Record<SocketTarget["scheme"], () => Promise<SocketTarget>> = {
  async tcp() {
    const tcp = await listenTcp({ ...common, authenticate });
    listener = tcp;
    return { scheme: "tcp", host: common.host, port: tcp.port, token };
  },
  async unix() {
    const path = join(folder, "gate.sock");
    listener = await listenUnix({ ...common, path });
    return { scheme: "unix", path };
  },
  async ws() {
    listener = await listenWebSocket({
      ...common,
      route: () => endpoint,
      authenticate: ({ authorization }) => authenticate(authorization),
    });
    return { scheme: "ws", url: listener.url, headers: { Authorization: `Bearer ${token}` } };
  },
};

test.each(["tcp", "unix", "ws"] as const)("reaches a server by %s, with its credentials", async (scheme) => {
  const target = await doors[scheme]();
  const events = { message: vi.fn<LinkEvents["message"]>(), closed: vi.fn<LinkEvents["closed"]>() };
  const link = await dialSocket(target, { maxMessageBytes: 1000, clock: systemClock })(events);
  void link.send({ jsonrpc: "2.0", id: 1, method: "m" });
  await vi.waitFor(() => expect(events.message).toHaveBeenCalledTimes(1));
  expect(events.message.mock.calls[0]![0]).toMatchObject({ kind: "response", message: { id: 1 } });
  await link.close();
});
