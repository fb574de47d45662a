import { describe, expect, it } from "vitest";
import type { InputRequest, ToolContext } from "../../core/context.ts";
import { ToolError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { InputRequired, ToolOutput } from "../../core/result.ts";
import { FakeClock, settle } from "../../../test/support/fakeClock.ts";
import { deferred } from "../../../test/support/providers.ts";
import { callerTo, every, providerOf, ShellClient, textOf } from "../../../test/support/shellClient.ts";

type Run = (args: JsonObject, ctx: ToolContext) => ToolOutput | Promise<ToolOutput>;

const elicit = (message = "Who?"): InputRequest => ({ method: "elicitation/create", params: { message } });

/** A legacy client of a server with the tool `t`, in an open session. */
async function opened(run: Run, capabilities: JsonObject = every) {
  const clock = new FakeClock();
  const client = new ShellClient(callerTo(providerOf({ t: run })), { clock, answerMs: 1000 });
  await client.initialize(capabilities);
  const call = () => client.ask("tools/call", { name: "t" });
  const answer = (id: unknown, result: JsonObject) =>
    client.raw(JSON.stringify({ jsonrpc: "2.0", id, result }));
  const refuse = (id: unknown, error: JsonObject) =>
    client.raw(JSON.stringify({ jsonrpc: "2.0", id, error }));
  return { client, clock, call, answer, refuse };
}

const asking: Run = async (_args, ctx) => JSON.stringify(await ctx.ask(elicit()));

/** What a refusal was, told as the tool's answer. */
const telling = async (_args: JsonObject, ctx: ToolContext): Promise<string> => {
  const error = await ctx.ask(elicit()).catch((reason: unknown) => reason);
  return error instanceof ToolError
    ? `${error.code}: ${error.message} ${JSON.stringify(error.data)}`
    : "none";
};

describe("a question to a legacy client", () => {
  it("is a request on the way of the call, and its answer goes back", async () => {
    const { client, call, answer } = await opened(asking);
    const reply = call();
    const { id, ...question } = await client.sent.next();
    expect(question).toEqual({ jsonrpc: "2.0", method: "elicitation/create", params: { message: "Who?" } });
    expect(await answer(id, { action: "accept", content: {} })).toBeUndefined();
    expect(textOf(await reply)).toBe('{"action":"accept","content":{}}');
  });

  it("goes the session's own way where the call's takes nothing", async () => {
    const { client, answer } = await opened(asking);
    const deaf = { ...client.exchange, send: () => false };
    const reply = client.ask("tools/call", { name: "t" }, deaf);
    const { id } = await client.unsolicited.next();
    await answer(id, { action: "decline" });
    expect(textOf(await reply)).toBe('{"action":"decline"}');
  });

  it("is not put to a client that has not declared that it answers such", async () => {
    const { client, call } = await opened(telling, { sampling: {} });
    expect(textOf(await call())).toMatch(/^MissingClientCapability: .*elicitation/);
    expect(client.sent.all).toEqual([]);
  });

  it("that cannot be put is an error of the call, if the tool leaves it at that", async () => {
    const { call } = await opened(asking, {});
    expect((await call()).error).toEqual({
      code: -32603,
      message:
        "This needs a client that declares the capability elicitation, for elicitation/create. Use one that does.",
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
  });

  it("that the client answers with an error is refused, with that error", async () => {
    const { client, call, refuse } = await opened(telling);
    const reply = call();
    const { id } = await client.sent.next();
    await refuse(id, { code: -1, message: "no", data: { a: 1 } });
    expect(textOf(await reply)).toBe(
      'ClientRefused: The client did not answer elicitation/create: no {"error":{"code":-1,"message":"no","data":{"a":1}}}',
    );
  });

  it("is given up when nobody answers in time, and the client is told", async () => {
    const { client, clock, call } = await opened(telling);
    const reply = call();
    const { id } = await client.sent.next();
    clock.advance(1000);
    expect(textOf(await reply)).toContain(
      "ClientRefused: The client did not answer elicitation/create: no answer",
    );
    expect(client.unsolicited.all).toMatchObject([
      { method: "notifications/cancelled", params: { requestId: id } },
    ]);
    expect(clock.pending).toBe(0);
  });

  it("is over with the session", async () => {
    const seen = deferred<string>();
    const { client, clock, call } = await opened(async (args, ctx) => {
      seen.resolve(await telling(args, ctx));
      return "late";
    });
    const reply = call();
    await client.sent.next();
    client.shell.closed(client.session);
    expect(await seen.promise).toContain("Cancelled: elicitation/create was cancelled.");
    expect([await reply, clock.pending]).toEqual([undefined, 0]);
  });

  it("is withdrawn when the client cancels the call", async () => {
    const seen = deferred<string>();
    const { client } = await opened(async (args, ctx) => {
      seen.resolve(await telling(args, ctx));
      return "late";
    });
    const reply = client.send({ id: "c", method: "tools/call", params: { name: "t" } });
    const { id } = await client.sent.next();
    await client.send({ method: "notifications/cancelled", params: { requestId: "c" } });
    expect(await seen.promise).toContain("Cancelled");
    expect(await reply).toBeUndefined();
    expect(client.unsolicited.all).toMatchObject([{ params: { requestId: id } }]);
  });

  it("is withdrawn when the call ends without its answer, and none is asked later", async () => {
    let late: ToolContext | undefined;
    const unanswered: Promise<unknown>[] = [];
    const { client, clock, call } = await opened((_args, ctx) => {
      late = ctx;
      unanswered.push(ctx.ask(elicit()).catch((error: ToolError) => error.code));
      return "done";
    });
    expect(textOf(await call())).toBe("done");
    expect(await unanswered[0]).toBe("Cancelled");
    expect(client.unsolicited.methods).toEqual(["notifications/cancelled"]);
    await expect(late!.ask(elicit())).rejects.toMatchObject({ code: "Cancelled" });
    expect([client.sent.all.length, clock.pending]).toEqual([1, 0]);
  });

  it("may be one of several, which are answered in any order", async () => {
    const { client, call, answer } = await opened(async (_args, ctx) => {
      const asked = [ctx.ask(elicit("a")), ctx.ask({ method: "roots/list", params: {} })];
      return JSON.stringify(await Promise.all(asked));
    });
    const reply = call();
    const [first, second] = [await client.sent.next(), await client.sent.next()];
    expect(first.id).not.toEqual(second.id);
    await answer(second.id, { roots: [] });
    await answer(first.id, { action: "cancel" });
    expect(textOf(await reply)).toBe('[{"action":"cancel"},{"roots":[]}]');
  });

  it("is refused beyond 4 MiB that wait, so that nobody floods the client with them", async () => {
    const large = elicit("x".repeat(3 * 1024 * 1024));
    const { client, call, answer } = await opened(async (_args, ctx) => {
      const first = ctx.ask(large);
      const second = await ctx.ask(large).then(
        () => "answered",
        (error: ToolError) => error.code,
      );
      await first;
      await ctx.ask(large);
      return second;
    });
    const reply = call();
    await answer((await client.sent.next()).id, { action: "accept" });
    await answer((await client.sent.next()).id, { action: "accept" });
    expect(textOf(await reply)).toBe("ExecutionFailed");
    expect(client.sent.all).toHaveLength(2);
  });

  it("takes one answer: others, and those to nothing, are ignored", async () => {
    const { client, call, answer, refuse } = await opened(asking);
    await answer(1, {});
    const reply = call();
    const { id } = await client.sent.next();
    await answer("1", { action: "wrong type of id" });
    await answer(99, { action: "wrong id" });
    await refuse(undefined, { code: 1, message: "no id" });
    await answer(id, { action: "accept" });
    await answer(id, { action: "again" });
    expect(textOf(await reply)).toBe('{"action":"accept"}');
  });

  it("cannot be answered from another session", async () => {
    const { client, call, answer } = await opened(asking);
    const other = new ShellClient(client.shell);
    await other.initialize(every);
    const reply = call();
    const { id } = await client.sent.next();
    await other.raw(JSON.stringify({ jsonrpc: "2.0", id, result: { action: "theirs" } }));
    await answer(id, { action: "mine" });
    expect(textOf(await reply)).toBe('{"action":"mine"}');
  });
});

describe("questions that a provider has for a legacy client", () => {
  const asked = (round: number): InputRequired => ({
    type: "input_required",
    inputRequests: { who: elicit(String(round)), where: { method: "roots/list", params: {} } },
    requestState: `state-${round}`,
  });

  it("are put to it, and the provider is called again with its answers and the state, as often as it wants", async () => {
    const seen: unknown[] = [];
    const { client, call, answer } = await opened((_args, ctx) => {
      seen.push(ctx.answers);
      return seen.length < 3 ? asked(seen.length) : "done";
    });
    const reply = call();
    for (let round = 1; round < 3; round++) {
      const [who, where] = [await client.sent.next(), await client.sent.next()];
      expect([who.params["message"], where.method]).toEqual([String(round), "roots/list"]);
      await answer(where.id, { roots: [] });
      await answer(who.id, { action: `a${round}` });
    }
    expect(textOf(await reply)).toBe("done");
    const answers = (round: number) => ({
      responses: { who: { action: `a${round}` }, where: { roots: [] } },
      requestState: `state-${round}`,
    });
    expect(seen).toMatchObject([undefined, answers(1), answers(2)]);
  });

  it("may be none: then a state alone comes back at once", async () => {
    const { call } = await opened((_args, ctx) =>
      ctx.answers ? `again: ${ctx.answers.requestState}` : { type: "input_required", requestState: "s" },
    );
    expect(textOf(await call())).toBe("again: s");
  });

  it("without end are refused as a result that the model can read", async () => {
    let calls = 0;
    const { call } = await opened(() => (calls++, { type: "input_required", requestState: "s" }));
    const reply = await call();
    expect(reply.result).toMatchObject({ isError: true, content: [{ text: "t asks without end." }] });
    expect(calls).toBe(11);
  });

  it("one of which is refused are all withdrawn, and the model reads why", async () => {
    const { client, clock, call, refuse } = await opened(() => asked(1));
    const reply = call();
    const [who, where] = [await client.sent.next(), await client.sent.next()];
    await refuse(who.id, { code: -1, message: "no" });
    const { result } = await reply;
    expect(result).toMatchObject({ isError: true });
    expect(result.content[0].text).toBe("The client did not answer elicitation/create: no");
    expect(client.unsolicited.all).toMatchObject([{ params: { requestId: where.id } }]);
    expect(clock.pending).toBe(0);
  });

  it("are not put at all if it has not declared to answer one of them", async () => {
    const { client, call } = await opened(() => asked(1), { roots: {} });
    expect((await call()).error.message).toContain("elicitation");
    await settle();
    expect(client.sent.all).toEqual([]);
  });
});
