import { describe, expect, it } from "vitest";
import type { InputRequest, ToolContext } from "../../core/context.ts";
import type { ToolError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { ToolResult, type ToolOutput } from "../../core/result.ts";
import { metaKeys } from "../../wire/protocol.ts";
import { FakeClock, settle } from "../../../test/support/fakeClock.ts";
import { deferred } from "../../../test/support/providers.ts";
import {
  callerTo,
  providerOf,
  ShellClient,
  textOf,
  wayOf,
  type ShellReply,
} from "../../../test/support/shellClient.ts";

type Run = (args: JsonObject, ctx: ToolContext) => ToolOutput | Promise<ToolOutput>;

const elicit = (message = "Who?"): InputRequest => ({ method: "elicitation/create", params: { message } });
const roots: InputRequest = { method: "roots/list", params: {} };

/** A server of the tools `t` and `u`, which do the same, and of a prompt and a resource of the same names. */
function serving(run: Run) {
  let runs = 0;
  const counted: Run = (args, ctx) => (runs++, run(args, ctx));
  const clock = new FakeClock();
  const raw = async (name: string, args: JsonObject, ctx: ToolContext) =>
    ({ type: "raw", value: { of: await counted({ ...args, name }, ctx) } }) as never;
  const provider = providerOf(
    { t: counted, u: counted },
    {
      prompts: { listPrompts: async () => [{ name: "t" }], getPrompt: raw },
      resources: {
        listResources: async () => [{ uri: "a:t", name: "t" }],
        listResourceTemplates: async () => [],
        readResource: (uri, ctx) => raw(uri, {}, ctx),
      },
    },
  );
  const client = new ShellClient(callerTo(provider), { clock, answerMs: 1000 });
  return { client, clock, runs: () => runs };
}

const call = (client: ShellClient, more: JsonObject = {}, way = wayOf()): Promise<ShellReply> =>
  client.able("tools/call", { name: "t", arguments: { a: 1, b: { c: 2, d: 3 } }, ...more }, way);

const retry = (
  client: ShellClient,
  { result }: ShellReply,
  inputResponses: unknown = { "input-1": { action: "accept" } },
  more: JsonObject = {},
  way = wayOf(),
): Promise<ShellReply> => call(client, { requestState: result.requestState, inputResponses, ...more }, way);

/** The code with which a question is refused. */
const refusalOf = (question: Promise<JsonObject>): Promise<string> =>
  question.then(
    () => "answered",
    (error: ToolError) => error.code,
  );

const asking: Run = async (_args, ctx) => JSON.stringify(await ctx.ask(elicit()));

describe("a question to a modern client", () => {
  it("is the answer to its request, and the next request's answer goes on with the same call", async () => {
    const { client, runs } = serving(asking);
    const asked = await call(client);
    expect(asked.result).toEqual({
      resultType: "input_required",
      inputRequests: { "input-1": elicit() },
      requestState: expect.stringMatching(/^[\w-]{40,}$/),
      _meta: { [metaKeys.serverInfo]: { name: "test", version: "1" } },
    });
    expect(textOf(await retry(client, asked))).toBe('{"action":"accept"}');
    expect(runs()).toBe(1);
  });

  it("can be answered on another connection", async () => {
    const { client, runs } = serving(asking);
    const asked = await call(client, {}, { ...wayOf(), exchange: client.exchange });
    client.shell.closed(client.session);
    const other = new ShellClient(client.shell);
    const answered = await retry(other, asked, undefined, {}, { ...wayOf(), exchange: other.exchange });
    expect([textOf(answered), runs()]).toEqual(['{"action":"accept"}', 1]);
  });

  it("lets progress and logs of what follows go to the request that brought the answer, as that one wants them", async () => {
    const { client } = serving(async (_args, ctx) => {
      const tell = (step: number): void => {
        ctx.progress({ progress: step });
        ctx.log("info", `info ${step}`);
        ctx.log("error", `error ${step}`);
      };
      tell(1);
      await ctx.ask(elicit());
      tell(2);
      await ctx.ask(elicit());
      tell(3);
      return "done";
    });
    const meta = (progressToken: string, level?: string) => ({
      _meta: { progressToken, ...(level && { [metaKeys.logLevel]: level }) },
    });
    const ways = [wayOf(), wayOf(), wayOf()] as const;
    const first = await call(client, meta("one", "info"), ways[0]);
    const second = await retry(client, first, undefined, meta("two", "error"), ways[1]);
    const third = await retry(client, second, { "input-2": {} }, meta("three"), ways[2]);
    expect(textOf(third)).toBe("done");
    const told = ways.map(({ sent }) =>
      sent.all.map(({ params }) => params!["data"] ?? params!["progressToken"]),
    );
    expect(told).toEqual([["one", "info 1", "error 1"], ["two", "error 2"], ["three"]]);
  });

  it("comes with all that are asked together", async () => {
    const { client } = serving(async (_args, ctx) =>
      JSON.stringify(await Promise.all([ctx.ask(elicit()), ctx.ask(roots)])),
    );
    const asked = await call(client);
    expect(asked.result.inputRequests).toEqual({ "input-1": elicit(), "input-2": roots });
    const answers = { "input-2": { roots: [] }, "input-1": { action: "cancel" }, odd: 1 };
    expect(textOf(await retry(client, asked, answers))).toBe('[{"action":"cancel"},{"roots":[]}]');
  });

  it("is asked again where the answer leaves it out, or is no answer", async () => {
    const { client } = serving(async (_args, ctx) =>
      JSON.stringify(await Promise.all([ctx.ask(elicit()), ctx.ask(roots)])),
    );
    const asked = await call(client);
    const again = await retry(client, asked, { "input-2": { roots: [] }, "input-1": "yes" });
    expect(again.result).toMatchObject({
      resultType: "input_required",
      inputRequests: { "input-1": elicit() },
    });
    expect(Object.keys(again.result.inputRequests)).toEqual(["input-1"]);
    const still = await retry(client, again, JSON.parse('{"__proto__": {"input-1": {}}}'));
    expect(still.result.resultType).toBe("input_required");
    expect(textOf(await retry(client, still))).toBe('[{"action":"accept"},{"roots":[]}]');
  });

  it("is told with the next request, if it comes up while the call waits", async () => {
    const later = deferred();
    const { client } = serving(async (_args, ctx) => {
      const second = later.promise.then(() => ctx.ask(roots));
      return JSON.stringify([await ctx.ask(elicit()), await second]);
    });
    const asked = await call(client);
    later.resolve();
    await settle();
    const again = await retry(client, asked);
    expect(again.result.inputRequests).toEqual({ "input-2": roots });
    expect(textOf(await retry(client, again, { "input-2": {} }))).toBe('[{"action":"accept"},{}]');
  });

  it("is one of 100 at most while nobody answers, and 4 MiB of them", async () => {
    const { promise: end, resolve: finish } = deferred<string>();
    const refused: string[] = [];
    const { client } = serving((args, ctx) => {
      const large = "x".repeat(3 * 1024 * 1024);
      const messages = args["a"] === "large" ? [large, large] : Array.from({ length: 102 }, () => "Who?");
      for (const message of messages)
        void refusalOf(ctx.ask(elicit(message))).then((code) => refused.push(code));
      return end;
    });
    const many = await call(client);
    expect(Object.keys(many.result.inputRequests)).toHaveLength(100);
    expect(refused).toEqual(["ExecutionFailed", "ExecutionFailed"]);
    const large = await call(client, { arguments: { a: "large" } });
    expect(Object.keys(large.result.inputRequests)).toHaveLength(1);
    expect(refused).toHaveLength(3);
    finish("done");
  });

  it("leaves room for another once it is answered", async () => {
    const { client } = serving(async (_args, ctx) => {
      for (let round = 0; round < 3; round++) await ctx.ask(elicit("x".repeat(3 * 1024 * 1024)));
      return "done";
    });
    let reply = await call(client);
    for (let round = 1; round <= 3; round++)
      reply = await retry(client, reply, { [`input-${round}`]: { action: "accept" } });
    expect(textOf(reply)).toBe("done");
  });

  it("is not waited for once the call is over", async () => {
    const { client, clock } = serving((_args, ctx) => {
      void ctx.ask(elicit()).catch(() => {});
      return "done";
    });
    expect(textOf(await call(client))).toBe("done");
    expect(clock.pending).toBe(0);
  });

  it("does not lose the answer of a call that ends while it waits", async () => {
    const end = deferred<string>();
    const { client } = serving((_args, ctx) =>
      Promise.race([end.promise, ctx.ask(elicit()).then(() => "asked")]),
    );
    const asked = await call(client);
    end.resolve("ended");
    await settle();
    expect(textOf(await retry(client, asked, {}))).toBe("ended");
  });

  it.each([
    ["prompts/get", { name: "t" }],
    ["resources/read", { uri: "a:t" }],
  ])("may come up in %s", async (method, params) => {
    const { client } = serving(asking);
    const asked = await client.able(method, params);
    expect(asked.result).not.toHaveProperty("ttlMs");
    const { requestState } = asked.result;
    const answered = await client.able(method, {
      ...params,
      requestState,
      inputResponses: { "input-1": {} },
    });
    expect(answered.result).toMatchObject({ resultType: "complete", value: { of: "{}" } });
  });
});

describe("a client that has not declared what is needed", () => {
  const lacks = {
    status: 400,
    error: { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } },
  };
  const none = { [metaKeys.clientCapabilities]: {} };

  it.each<[string, Run]>([
    ["rejects", asking],
    ["answers with a failure", async (_args, ctx) => ToolResult.error(await refusalOf(ctx.ask(elicit())))],
    [
      "rejects otherwise",
      async (_args, ctx) => {
        throw new Error(await refusalOf(ctx.ask(elicit())));
      },
    ],
  ])("is told what, where the tool then %s", async (_what, run) => {
    expect(await call(serving(run).client, { _meta: none })).toMatchObject(lacks);
  });

  it("is answered by a tool that can do without", async () => {
    const { client } = serving((_args, ctx) =>
      ctx.ask(elicit()).then(
        () => "",
        () => "without",
      ),
    );
    expect(textOf(await call(client, { _meta: none }))).toBe("without");
  });

  it("is not asked again, when it declared it with the first request and does not with the next", async () => {
    const { client } = serving(asking);
    expect(await retry(client, await call(client), {}, { _meta: none })).toMatchObject(lacks);
  });
});

describe("a state", () => {
  const expectRefusal = (reply: ShellReply, why: string): void => {
    expect(reply).toMatchObject({ status: 200, error: { code: -32602 } });
    expect(reply.error.message).toContain(`params.requestState is not valid: ${why}`);
  };
  const notOurs = "it was not made here";

  it("is refused when it is none of ours, and nothing runs", async () => {
    const { client, runs } = serving(asking);
    const { requestState } = (await call(client)).result as { requestState: string };
    const other = serving(asking);
    const theirs = (await call(other.client)).result.requestState;
    const forged = [
      "",
      "x",
      "%%%",
      7,
      null,
      {},
      theirs,
      requestState.slice(0, -4),
      requestState.slice(4),
      `${requestState}AAAA`,
      `${requestState}=`,
      `${requestState[0] === "A" ? "B" : "A"}${requestState.slice(1)}`,
      "A".repeat(4_000_000),
    ];
    for (const state of forged) expectRefusal(await call(client, { requestState: state }), notOurs);
    expect(runs()).toBe(1);
  });

  it("is refused a second time, and where it comes twice at once", async () => {
    const { client, runs } = serving(asking);
    const asked = await call(client);
    const replies = await Promise.all([retry(client, asked), retry(client, asked)]);
    const [refused, answered] = replies.toSorted((a, b) => Number("result" in a) - Number("result" in b));
    expectRefusal(refused!, "it has been used already");
    expect(textOf(answered!)).toBe('{"action":"accept"}');
    expectRefusal(await retry(client, asked), "it has been used already");
    expect(runs()).toBe(1);
  });

  it("is refused to another principal, to whom it tells nothing, and is still good then", async () => {
    const { client } = serving(asking);
    const asked = await call(client);
    expectRefusal(await retry(client, asked, {}, {}, wayOf("other")), "it was given to somebody else");
    expect(textOf(await retry(client, asked))).toBe('{"action":"accept"}');
  });

  it.each<[string, (client: ShellClient, state: JsonObject) => Promise<ShellReply>]>([
    ["another tool", (client, state) => call(client, { name: "u", ...state })],
    [
      "other arguments",
      (client, state) => call(client, { arguments: { a: 1, b: { c: 2, d: 4 } }, ...state }),
    ],
    ["no arguments", (client, state) => call(client, { arguments: {}, ...state })],
    ["another kind", (client, state) => client.able("prompts/get", { name: "t", arguments: {}, ...state })],
  ])("is refused for %s", async (_what, other) => {
    const { client, runs } = serving(asking);
    const { requestState } = (await call(client)).result;
    expectRefusal(await other(client, { requestState, inputResponses: {} }), "it belongs to another request");
    expect(runs()).toBe(1);
  });

  it("does not mind the order of the arguments' members", async () => {
    const { client } = serving(asking);
    const asked = await call(client);
    const reply = await retry(client, asked, undefined, { arguments: { b: { d: 3, c: 2 }, a: 1 } });
    expect(textOf(reply)).toBe('{"action":"accept"}');
  });

  it("is refused once it has expired", async () => {
    const { client, clock } = serving(
      (_args, ctx) => ctx.answers?.requestState ?? { type: "input_required", requestState: "s" },
    );
    const asked = await call(client);
    clock.advance(999);
    expect(textOf(await retry(client, asked))).toBe("s");
    clock.advance(1);
    expectRefusal(await retry(client, asked), "it has expired");
  });

  it("is not used up by a request that is malformed", async () => {
    const { client } = serving(asking);
    const asked = await call(client);
    for (const answers of [[], "x", 7]) expect((await retry(client, asked, answers)).error.code).toBe(-32602);
    const badLevel = { _meta: { [metaKeys.logLevel]: "loud" } };
    expect((await retry(client, asked, undefined, badLevel)).error.code).toBe(-32602);
    expect(textOf(await retry(client, asked))).toBe('{"action":"accept"}');
  });

  it("is what answers need: without one they are not looked at", async () => {
    const { client, runs } = serving(asking);
    const asked = await call(client, { inputResponses: { "input-1": { action: "accept" } } });
    expect([asked.result.resultType, runs()]).toEqual(["input_required", 1]);
  });
});

describe("a call that waits for answers", () => {
  it("ends when they do not come", async () => {
    const ended = deferred<string>();
    const { client, clock } = serving(async (_args, ctx) => {
      const first = await refusalOf(ctx.ask(elicit()));
      const later = await refusalOf(ctx.ask(elicit()));
      ended.resolve(`${first} ${later} ${ctx.signal.aborted}`);
      return "";
    });
    const asked = await call(client);
    clock.advance(1000);
    expect(await ended.promise).toBe("ClientRefused Cancelled true");
    expect((await retry(client, asked)).error.code).toBe(-32602);
    expect(clock.pending).toBe(0);
  });

  it("ends when the server stops, and none waits from then on", async () => {
    const seen: unknown[] = [];
    const { client, clock } = serving(async (_args, ctx) => {
      seen.push(await ctx.ask(elicit()).catch((error: ToolError) => error.message));
      return "";
    });
    await call(client);
    client.shell.close();
    await settle();
    expect(seen).toEqual(["The server is stopping."]);
    expect((await call(client)).status).toBe(429);
    expect([seen.length, clock.pending]).toEqual([2, 0]);
  });

  it("is not cancelled by its first client's leaving, once that has its answer", async () => {
    let signal: AbortSignal | undefined;
    const { client } = serving(async (args, ctx) => ((signal = ctx.signal), asking(args, ctx)));
    const way = wayOf();
    const asked = await call(client, {}, way);
    way.cancellation.cancel("gone");
    expect(signal!.aborted).toBe(false);
    expect(textOf(await retry(client, asked))).toBe('{"action":"accept"}');
  });

  it("is cancelled by whoever has it at the time", async () => {
    const seen = deferred<AbortSignal>();
    const { client } = serving(async (_args, ctx) => {
      await ctx.ask(elicit());
      seen.resolve(ctx.signal);
      return new Promise<string>((resolve) => ctx.cancellation.onCancel(() => resolve("late")));
    });
    const asked = await call(client);
    const way = wayOf();
    const reply = retry(client, asked, undefined, {}, way);
    const signal = await seen.promise;
    way.cancellation.cancel("gone");
    expect([signal.aborted, await reply]).toEqual([true, undefined]);
  });

  it("is not kept for a client that leaves before it has its answer", async () => {
    const codes: unknown[] = [];
    const { client, clock } = serving(async (_args, ctx) => {
      for (let n = 0; n < 2; n++) codes.push(await refusalOf(ctx.ask(elicit())));
      return new Promise<string>(() => {});
    });
    const way = wayOf();
    // It is looked at while the state is being sealed.
    clock.now = () => {
      way.cancellation.cancel("gone");
      return 0;
    };
    expect(await call(client, {}, way)).toBeUndefined();
    expect([codes, clock.pending]).toEqual([["Cancelled", "Cancelled"], 0]);
  });

  it("is one of those whose requests have 32 MiB together at most", async () => {
    const { client } = serving(asking);
    const large = { arguments: { a: "x".repeat(12 * 1024 * 1024) } };
    for (let n = 0; n < 2; n++) expect((await call(client, large)).result.resultType).toBe("input_required");
    const first = await call(client);
    expect(await call(client, large)).toMatchObject({ status: 429, error: { code: -32603 } });
    expect(textOf(await retry(client, first))).toBe('{"action":"accept"}');
  });

  it("is one of 100 of its principal at most; others have their own", async () => {
    const ends: string[] = [];
    const { client, runs } = serving(async (_args, ctx) => {
      ends.push(await refusalOf(ctx.ask(elicit())));
      return "done";
    });
    const asked = await Promise.all(Array.from({ length: 100 }, () => call(client)));
    expect(await call(client)).toMatchObject({
      status: 429,
      error: { code: -32603, message: expect.stringContaining("Too many calls") },
    });
    await settle();
    expect(ends).toEqual(["ClientRefused"]);
    expect((await call(client, {}, wayOf("other"))).result.resultType).toBe("input_required");
    expect(textOf(await retry(client, asked[0]!))).toBe("done");
    expect((await call(client)).result.resultType).toBe("input_required");
    expect(runs()).toBe(103);
  });
});

describe("questions of a provider's own", () => {
  const inputRequests = { who: elicit(), where: roots };
  const upstream: Run = (_args, ctx) =>
    ctx.answers
      ? JSON.stringify(ctx.answers)
      : { type: "input_required", inputRequests, requestState: "theirs", _meta: { a: 1 } };

  it("pass under their own keys, with its state inside ours", async () => {
    const { client, runs } = serving(upstream);
    const asked = await call(client);
    expect(asked.result).toMatchObject({ resultType: "input_required", inputRequests, _meta: { a: 1 } });
    expect(asked.result.requestState).not.toContain("theirs");
    const responses = { who: { action: "accept" }, other: 1 };
    const answers = JSON.parse(textOf(await retry(client, asked, responses)));
    expect(answers).toMatchObject({ responses, requestState: "theirs" });
    expect(runs()).toBe(2);
  });

  it("may be a state alone, or questions alone", async () => {
    const { client } = serving((_args, ctx) => {
      if (!ctx.answers) return { type: "input_required", requestState: "s" };
      return ctx.answers.requestState === "s" ? { type: "input_required", inputRequests } : "done";
    });
    const state = await call(client);
    expect(state.result).not.toHaveProperty("inputRequests");
    const questions = await retry(client, state, undefined);
    expect(questions.result).toMatchObject({ inputRequests });
    expect(textOf(await retry(client, questions))).toBe("done");
  });

  it("are not passed to a client that has not declared to answer one of them", async () => {
    const _meta = { [metaKeys.clientCapabilities]: { elicitation: {} } };
    expect(await call(serving(upstream).client, { _meta })).toMatchObject({
      status: 400,
      error: { code: -32021, data: { requiredCapabilities: { roots: {} } } },
    });
  });

  it("take their answers to whoever asked, and to nobody else", async () => {
    let name = "fs";
    let answered: unknown;
    const caller = callerTo(providerOf({ t: (_args, ctx) => ((answered = ctx.answers), "ran") }));
    const client = new ShellClient({
      ...caller,
      call: async (operation, ctx) =>
        operation.answers
          ? caller.call(operation, ctx)
          : {
              type: "input_required",
              canonicalName: `${name}__t`,
              asked: { type: "input_required", requestState: "s" },
            },
    });
    expect(textOf(await retry(client, await call(client)))).toBe("ran");
    expect(answered).toMatchObject({ requestState: "s" });
    name = "other";
    const refused = await retry(client, await call(client));
    expect(refused.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/belong to another request/) }],
    });
  });
});
