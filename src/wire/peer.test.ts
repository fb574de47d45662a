import { expect, test, vi } from "vitest";
import { FakeClock, settle } from "../../test/support/fakeClock.ts";
import { Cancellation } from "../core/cancellation.ts";
import { classify, RpcError, type JsonRpcMessage } from "./jsonrpc.ts";
import type { Link } from "./link.ts";
import { CancelledError, OversizedError, Peer, TimeoutError, type PeerOptions } from "./peer.ts";

function connect(options: Partial<PeerOptions> = {}, link: Partial<Link> = {}) {
  const clock = new FakeClock();
  const sent: JsonRpcMessage[] = [];
  const peer = new Peer({ clock, ...options });
  peer.attach({
    send: (message) => void sent.push(message),
    close: async () => {},
    ...link,
  });
  const receive = (value: unknown): void => peer.receive(classify(value));
  return { clock, sent, peer, receive };
}

const answer = (id: number, result: object = {}) => ({ jsonrpc: "2.0", id, result });

test("answers find their requests in any order", async () => {
  const { peer, receive, sent } = connect();
  const first = peer.request("a", {});
  const second = peer.request("b", {});
  receive(answer(2, { n: 2 }));
  receive(answer(1, { n: 1 }));
  expect(await first).toEqual({ n: 1 });
  expect(await second).toEqual({ n: 2 });
  expect(sent.map((message) => "id" in message && message.id)).toEqual([1, 2]);
});

test("an error answer rejects with its code and data", async () => {
  const { peer, receive } = connect();
  const asked = peer.request("a", {});
  receive({ jsonrpc: "2.0", id: 1, error: { code: -32602, message: "no", data: { why: 1 } } });
  const error = await asked.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RpcError);
  expect(error).toMatchObject({ code: -32602, message: "no", data: { why: 1 } });
});

test("a request is refused before a link is there, and after its end", async () => {
  const peer = new Peer({ clock: new FakeClock() });
  await expect(peer.request("a", {})).rejects.toThrow("not connected");
  const connected = connect();
  const waiting = connected.peer.request("a", {});
  connected.peer.close(new Error("gone"));
  await expect(waiting).rejects.toThrow("gone");
  await expect(connected.peer.request("b", {})).rejects.toThrow("gone");
});

test("a message that cannot be sent rejects its request, thrown or rejected", async () => {
  for (const send of [
    () => {
      throw new Error("broken pipe");
    },
    () => Promise.reject(new Error("broken pipe")),
  ]) {
    const { peer } = connect({}, { send });
    await expect(peer.request("a", {})).rejects.toThrow("broken pipe");
    await expect(peer.notify("b")).resolves.toBeUndefined();
  }
});

test("a time-out rejects, and tells the other side; progress starts it again", async () => {
  const { peer, clock, sent, receive } = connect();
  const onProgress = vi.fn<() => void>();
  const outcome = peer.request("a", {}, { timeoutMs: 100, onProgress }).catch((error: unknown) => error);
  await clock.pass(90);
  receive({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken: 1, progress: 0.5, total: 1, message: "half" },
  });
  await clock.pass(90);
  expect(sent).toHaveLength(1);
  await clock.pass(10);
  expect(await outcome).toBeInstanceOf(TimeoutError);
  expect(onProgress).toHaveBeenCalledExactlyOnceWith({ progress: 0.5, total: 1, message: "half" });
  expect(sent[1]).toMatchObject({ method: "notifications/cancelled", params: { requestId: 1 } });
});

test("the progress token joins the `_meta` that is there, and is left out where nobody listens", () => {
  const { peer, sent } = connect();
  void peer.request("a", { _meta: { trace: 1 } }, { onProgress: () => {} });
  void peer.request("b", { x: 1 });
  expect(sent).toMatchObject([{ params: { _meta: { trace: 1, progressToken: 1 } } }, { params: { x: 1 } }]);
  expect(sent[1]).not.toHaveProperty("params._meta");
});

test("a cancellation rejects at once and is told; the late answer is a stray", async () => {
  const onStray = vi.fn<() => void>();
  const { peer, sent, receive } = connect({ onStray });
  const cancellation = new Cancellation();
  const asked = peer.request("a", {}, { cancellation });
  cancellation.cancel("changed my mind");
  await expect(asked).rejects.toBeInstanceOf(CancelledError);
  expect(sent[1]).toMatchObject({ params: { requestId: 1, reason: "changed my mind" } });
  receive(answer(1));
  expect(onStray).toHaveBeenCalledOnce();
});

test("nothing is sent for what was cancelled before", async () => {
  const { peer, sent } = connect();
  const cancellation = new Cancellation();
  cancellation.cancel("early");
  await expect(peer.request("a", {}, { cancellation })).rejects.toBeInstanceOf(CancelledError);
  expect(sent).toEqual([]);
});

test("a link that can close the request's stream needs no notification", async () => {
  const cancel = vi.fn<(id: unknown) => boolean>(() => true);
  const { peer, sent } = connect({}, { cancel });
  const cancellation = new Cancellation();
  const asked = peer.request("a", {}, { cancellation });
  cancellation.cancel("x");
  await expect(asked).rejects.toBeInstanceOf(CancelledError);
  expect(cancel).toHaveBeenCalledExactlyOnceWith(1);
  expect(sent).toHaveLength(1);
});

test("an answered request leaves neither timer nor listener", async () => {
  const { peer, clock, receive, sent } = connect();
  const cancellation = new Cancellation();
  const asked = peer.request("a", {}, { timeoutMs: 100, cancellation });
  receive(answer(1));
  await asked;
  expect(clock.pending).toBe(0);
  cancellation.cancel("late");
  expect(sent).toHaveLength(1);
});

test("a bound holds for what waits, and waiting less lifts it", async () => {
  const { peer, receive } = connect({ maxPending: 1 });
  const first = peer.request("a", {});
  await expect(peer.request("b", {})).rejects.toThrow("more than 1 requests wait");
  receive(answer(1));
  await first;
  const third = peer.request("c", {});
  receive(answer(2));
  await expect(third).resolves.toEqual({});
});

test("answers to nothing, with ids of another type or none, are strays", () => {
  const onStray = vi.fn<() => void>();
  const { peer, receive } = connect({ onStray });
  void peer.request("a", {});
  receive(answer(7));
  receive({ jsonrpc: "2.0", id: "1", result: {} });
  receive({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } });
  receive("garbage");
  expect(onStray).toHaveBeenCalledTimes(4);
});

test("an answer of a wrong shape fails its request instead of leaving it to hang", async () => {
  const { peer, receive } = connect();
  const asked = peer.request("a", {});
  receive({ jsonrpc: "2.0", id: 1, result: "text" });
  await expect(asked).rejects.toThrow("not a JSON-RPC response");
});

test("an oversized message fails its request where the id is known, and else everything in flight", async () => {
  const { peer, sent } = connect();
  const outcomes = [1, 2, 3].map(() => peer.request("a", {}).catch((error: unknown) => error));
  peer.receive({ kind: "invalid", reason: "size", limit: 10, id: 2 });
  expect(await outcomes[1]).toMatchObject({ name: "OversizedError", limit: 10 });
  expect(sent).toHaveLength(3);
  peer.receive({ kind: "invalid", reason: "size", limit: 10 });
  expect(await outcomes[0]).toBeInstanceOf(OversizedError);
  expect(await outcomes[2]).toBeInstanceOf(OversizedError);
  // The other side still works on them.
  expect(sent.slice(3)).toMatchObject([{ params: { requestId: 1 } }, { params: { requestId: 3 } }]);
});

test("requests from the other side are answered: result, error, unknown method, unexpected throw", async () => {
  const { receive, sent } = connect({
    onRequest({ method }) {
      if (method === "ping") return {};
      if (method === "deny") throw new RpcError(-32000, "denied");
      throw new Error("secret detail");
    },
  });
  for (const [index, method] of ["ping", "deny", "crash"].entries())
    receive({ jsonrpc: "2.0", id: `s${index}`, method });
  await settle();
  expect(sent).toHaveLength(3);
  expect(sent).toEqual(
    expect.arrayContaining([
      { jsonrpc: "2.0", id: "s0", result: {} },
      { jsonrpc: "2.0", id: "s1", error: { code: -32000, message: "denied" } },
      { jsonrpc: "2.0", id: "s2", error: { code: -32603, message: "Internal error" } },
    ]),
  );
  const mute = connect();
  mute.receive({ jsonrpc: "2.0", id: 1, method: "roots/list" });
  await settle();
  expect(mute.sent).toMatchObject([{ id: 1, error: { code: -32601 } }]);
});

test("a batch is taken apart; progress without a number or a waiting request is dropped", async () => {
  const onNotification = vi.fn<() => void>();
  const { peer, receive } = connect({ onNotification });
  const onProgress = vi.fn<() => void>();
  const asked = peer.request("a", {}, { onProgress });
  const progress = (params: object) => ({ jsonrpc: "2.0", method: "notifications/progress", params });
  receive([
    progress({ progressToken: 1, progress: "much" }),
    progress({ progressToken: 9, progress: 1 }),
    { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
    answer(1, { ok: true }),
  ]);
  expect(await asked).toEqual({ ok: true });
  expect(onProgress).not.toHaveBeenCalled();
  expect(onNotification).toHaveBeenCalledOnce();
});

test("a flood of requests is answered a bounded number at a time", async () => {
  let arrive!: () => void;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const send = vi.fn<Link["send"]>(() => arrived);
  const { receive } = connect({ onRequest: () => ({}) }, { send });
  const flood = async (): Promise<void> => {
    for (let id = 0; id < 1_000; id++) receive({ jsonrpc: "2.0", id, method: "ping" });
    await settle();
  };
  await flood();
  expect(send).toHaveBeenCalledTimes(100);
  arrive();
  await settle();
  await flood();
  expect(send).toHaveBeenCalledTimes(200);
});
