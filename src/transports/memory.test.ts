import { expect, test, vi } from "vitest";
import type { Endpoint, Exchange } from "../wire/endpoint.ts";
import { encode, resultResponse, type JsonRpcMessage } from "../wire/jsonrpc.ts";
import type { LinkEvents } from "../wire/link.ts";
import { memoryPair } from "./memory.ts";

const ping: JsonRpcMessage = { jsonrpc: "2.0", id: 1, method: "ping" };

function setUp() {
  const exchanges: Exchange[] = [];
  const endpoint = {
    handle: vi.fn<Endpoint["handle"]>((_, exchange) => {
      exchanges.push(exchange);
      exchange.send({ jsonrpc: "2.0", method: "notifications/progress" });
      return { text: encode(resultResponse(1, {})), status: 200 };
    }),
    closed: vi.fn<Endpoint["closed"]>(),
  };
  const events = { message: vi.fn<LinkEvents["message"]>(), closed: vi.fn<LinkEvents["closed"]>() };
  return { endpoint, events, exchanges, dial: memoryPair(endpoint) };
}

test("messages pass as on a wire, later and in order", async () => {
  const { dial, endpoint, events } = setUp();
  const link = await dial(events);
  void link.send({ ...ping, params: { left: undefined, kept: 1 } });
  expect(endpoint.handle).not.toHaveBeenCalled();
  await vi.waitFor(() => expect(events.message).toHaveBeenCalledTimes(2));
  expect(endpoint.handle.mock.calls[0]?.[0]).toStrictEqual({
    kind: "request",
    message: { ...ping, params: { kept: 1 } },
  });
  expect(events.message.mock.calls.map(([incoming]) => incoming.kind)).toEqual(["notification", "response"]);
});

test("close ends the session once, and nothing comes after it", async () => {
  const { dial, endpoint, events, exchanges } = setUp();
  const link = await dial(events);
  void link.send(ping);
  await vi.waitFor(() => expect(exchanges).toHaveLength(1));
  await link.close();
  await link.close();
  expect(endpoint.closed.mock.calls).toEqual([[exchanges[0]?.session]]);
  expect(() => link.send(ping)).toThrow("closed");
  expect(events.closed).not.toHaveBeenCalled();
});

test("every link is a session of its own", async () => {
  const { dial, events, exchanges } = setUp();
  for (const link of [await dial(events), await dial(events)]) void link.send(ping);
  await vi.waitFor(() => expect(exchanges).toHaveLength(2));
  expect(exchanges[0]?.session).not.toBe(exchanges[1]?.session);
});
