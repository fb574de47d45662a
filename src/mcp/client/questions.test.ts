import { describe, expect, test } from "vitest";
import { connected, failure } from "../../../test/support/connected.ts";
import { settle } from "../../../test/support/fakeClock.ts";
import { type FakeServer, legacyServer, modernServer, silence } from "../../../test/support/fakeServer.ts";
import { deferred } from "../../../test/support/providers.ts";
import { Cancellation } from "../../core/cancellation.ts";
import { ToolContext, type InputRequest, type ToolContextInit } from "../../core/context.ts";
import { ToolError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { RpcError } from "../../wire/jsonrpc.ts";

const yes = { action: "accept", content: { sure: true } };
const question = { mode: "form", message: "Sure?", requestedSchema: { type: "object" } };
const error = (code: number, message: unknown, data?: unknown) => ({
  error: { code, message, ...(data !== undefined && { data }) },
});
const nobody = error(
  -32600,
  'elicitation/create of Upstream "fs" cannot be relayed: no call is in flight that it could belong to.',
);

/** A server whose calls take until the test ends them, and callers that say what they were asked. */
async function asking(server: FakeServer = legacyServer()) {
  const ends: (() => void)[] = [];
  server.answers["tools/call"] = () => new Promise((end) => ends.push(() => end({ content: [] })));
  const { connection } = await connected(server);
  const asked: [string, InputRequest][] = [];
  async function call(who: string, init: ToolContextInit = {}) {
    const onAsk = (request: InputRequest): Promise<JsonObject> => {
      asked.push([who, request]);
      return Promise.resolve(yes);
    };
    const principal = { id: who.split(" ")[0]! };
    const done = connection.callTool("read", {}, new ToolContext({ onAsk, principal, ...init }));
    done.catch(() => {});
    await settle();
    return { done, id: server.requests("tools/call").at(-1)!.id, end: ends.at(-1)! };
  }
  const ask = (cause?: string | number) => server.ask("elicitation/create", question, cause);
  return { server, connection, asked, call, ask };
}

describe("a question of a legacy server", () => {
  test.each(["elicitation/create", "sampling/createMessage", "roots/list"])(
    "%s goes to the client whose call runs, and its answer back",
    async (method) => {
      const { server, asked, call } = await asking();
      await call("ada");
      expect(await server.ask(method, { any: "thing" })).toMatchObject({ result: yes });
      expect(asked).toEqual([["ada", { method, params: { any: "thing" } }]]);
    },
  );

  test("without params has none for the client either", async () => {
    const { server, asked, call } = await asking();
    await call("ada");
    await server.ask("roots/list");
    expect(asked).toEqual([["ada", { method: "roots/list", params: {} }]]);
  });

  test("is asked while a resource is read or a prompt got, too", async () => {
    const { server, connection, asked, ask } = await asking();
    Object.assign(server.answers, { "resources/read": silence, "prompts/get": silence });
    const onAsk = async (request: InputRequest): Promise<JsonObject> => {
      asked.push(["reader", request]);
      return yes;
    };
    void connection.readResource("x://y", new ToolContext({ onAsk })).catch(() => {});
    await settle();
    expect(await ask()).toMatchObject({ result: yes });
    void connection.getPrompt("p", {}, new ToolContext({ onAsk })).catch(() => {});
    await settle();
    expect(await ask()).toMatchObject({ result: yes });
    expect(asked).toHaveLength(2);
  });

  test("goes to the call on whose answer's stream it comes, whoever else is there", async () => {
    const { asked, call, ask } = await asking();
    const [ada, bob] = [await call("ada"), await call("bob")];
    expect(await ask(ada.id)).toMatchObject({ result: yes });
    expect(await ask(bob.id)).toMatchObject({ result: yes });
    expect(asked.map(([who]) => who)).toEqual(["ada", "bob"]);
  });

  test("on the stream of no call, or of one that is over, is nobody's", async () => {
    const { asked, call, ask } = await asking();
    const ada = await call("ada");
    expect(await ask("another")).toMatchObject(nobody);
    const bob = await call("bob");
    bob.end();
    await bob.done;
    expect(await ask(bob.id)).toMatchObject(nobody);
    expect(asked).toEqual([]);
    ada.end();
  });

  test("that tells no cause goes to the newest call of the one principal that has any", async () => {
    const { asked, call, ask } = await asking();
    await call("ada 1");
    const newest = await call("ada 2");
    await ask();
    newest.end();
    await newest.done;
    await ask();
    expect(asked.map(([who]) => who)).toEqual(["ada 2", "ada 1"]);
  });

  test("that tells no cause is refused while several principals have calls, with the setting that helps", async () => {
    const { asked, call, ask } = await asking();
    await call("ada");
    const bob = await call("bob");
    expect(await ask()).toMatchObject(
      error(
        -32600,
        'elicitation/create of Upstream "fs" cannot be relayed: several principals have calls in flight here, and ' +
          `nothing tells whose call it belongs to: set "isolation": "principal" for this server in the gateway's configuration.`,
      ),
    );
    bob.end();
    await bob.done;
    expect(await ask()).toMatchObject({ result: yes });
    expect(asked.map(([who]) => who)).toEqual(["ada"]);
  });

  test("without any call is refused", async () => {
    const { ask } = await asking();
    expect(await ask()).toMatchObject(nobody);
  });

  test("finds its call after that was sent again", async () => {
    const server = modernServer();
    let calls = 0;
    const { connection } = await connected(server);
    const heard: unknown[] = [];
    server.answers["tools/call"] = (_, { id }) => {
      if (++calls === 1) throw new RpcError(-32020, "header mismatch");
      server.notify("notifications/message", { level: "info", data: "again" }, id);
      return { content: [] };
    };
    await connection.callTool("read", {}, new ToolContext({ onLog: ({ data }) => heard.push(data) }));
    expect([calls, heard]).toEqual([2, ["again"]]);
  });
});

describe("what the server is told where there is no answer", () => {
  const said = { error: { code: -1, message: "User rejected", data: { why: 1 } } };
  test.each<[string, Error, object]>([
    ["the door cannot ask", new ToolError("Unsupported", "cannot"), error(-32601, "cannot")],
    [
      "the client declared no such thing",
      new ToolError("MissingClientCapability", "no"),
      error(-32601, "no"),
    ],
    ["something fails", new ToolError("TimedOut", "too late"), error(-32603, "too late")],
    ["the client refuses", new ToolError("ClientRefused", "no", { data: said }), said],
    ["the refusal cannot be read", new ToolError("ClientRefused", "no", { data: 1 }), error(-32603, "no")],
    ["a protocol error is thrown", new RpcError(-5, "five"), error(-5, "five")],
    ["anything else is thrown", new Error("a secret"), error(-32603, "Internal error")],
  ])("%s", async (_what, thrown, answer) => {
    const { call, ask } = await asking();
    await call("ada", { onAsk: () => Promise.reject(thrown) });
    expect(await ask()).toMatchObject(answer);
  });

  test("a caller that can ask nobody: no such method", async () => {
    const { server, connection, ask } = await asking();
    void connection.callTool("read", {}, new ToolContext()).catch(() => {});
    await settle();
    expect(await ask()).toMatchObject(error(-32601, expect.stringContaining("elicitation/create")));
    expect(server.requests("tools/call")).toHaveLength(1);
  });
});

describe("nobody waits", () => {
  test("for an answer that the server does not want any more, nor does it get one", async () => {
    const { server, call, ask } = await asking();
    const answer = deferred<JsonObject>();
    await call("ada", { onAsk: () => answer.promise });
    void ask();
    await settle();
    server.notify("notifications/cancelled", { requestId: "q1" });
    answer.resolve(yes);
    await settle();
    expect(server.received.filter((one) => !("method" in one))).toEqual([]);
  });

  test("for an answer when the call is over", async () => {
    for (const ending of ["answered", "cancelled"] as const) {
      const { call, ask } = await asking();
      const cancellation = new Cancellation();
      const { done, end } = await call("ada", { cancellation, onAsk: silence });
      const answer = ask();
      await settle();
      if (ending === "answered") end();
      else cancellation.cancel("enough");
      await done.catch(() => {});
      expect(await answer).toMatchObject(
        error(-32603, "Nobody waits for the answer any more: the call is over"),
      );
    }
  });

  test("for answers beyond a hundred at once: the rest get none, and the connection goes on", async () => {
    const { server, connection, asked, call, ask } = await asking();
    const answer = deferred<JsonObject>();
    const { end, done } = await call("ada", {
      onAsk: (request) => {
        asked.push(["ada", request]);
        return answer.promise;
      },
    });
    for (let n = 0; n < 1_000; n++) void ask();
    await settle();
    expect(asked).toHaveLength(100);
    answer.resolve(yes);
    await settle();
    expect(server.received.filter((one) => "result" in one)).toHaveLength(100);
    end();
    await done;
    expect((await connection.list("tools")).entries).toHaveLength(1);
  });

  test("for a question that is put again under the same id", async () => {
    const { server, asked, call } = await asking();
    const answer = deferred<JsonObject>();
    await call("ada", {
      onAsk: (request) => {
        asked.push(["ada", request]);
        return answer.promise;
      },
    });
    for (let n = 0; n < 2; n++)
      server.say({ jsonrpc: "2.0", id: "same", method: "elicitation/create", params: question });
    answer.resolve(yes);
    await settle();
    expect(asked).toHaveLength(1);
    expect(server.received.filter((one) => "result" in one)).toHaveLength(1);
  });
});

test("a modern server asks in its results only: its requests are refused", async () => {
  const { asked, call, ask, server } = await asking(modernServer());
  const { id } = await call("ada");
  for (const cause of [id, undefined])
    expect(await ask(cause)).toMatchObject(error(-32601, "Method not found: elicitation/create"));
  expect(await server.ask("tools/list")).toMatchObject(error(-32601, "Method not found: tools/list"));
  expect(asked).toEqual([]);
});

test("a legacy server may not ask for anything else, nor before its handshake is over", async () => {
  const server = legacyServer();
  const initialize = server.answers["initialize"]!;
  let early: unknown;
  server.answers["initialize"] = async (...request) => {
    early = await server.ask("elicitation/create", question);
    return initialize(...request);
  };
  const { call } = await asking(server);
  await call("ada");
  expect(early).toMatchObject({ error: { code: -32601 } });
  expect(await server.ask("tools/call")).toMatchObject(error(-32601, "Method not found: tools/call"));
});

test("a call that fails leaves nothing that questions could go to", async () => {
  const { server, connection, ask } = await asking();
  server.answers["tools/call"] = () => {
    throw new RpcError(-1, "no");
  };
  await failure(connection.callTool("read", {}, new ToolContext({ onAsk: async () => yes })));
  expect(await ask()).toMatchObject(nobody);
});
