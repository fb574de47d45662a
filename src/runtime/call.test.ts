import { describe, expect, test } from "vitest";
import {
  callOf,
  deferred,
  FakeProvider,
  itemOf,
  keptLog,
  resolverOf,
  unavailable,
} from "../../test/support/providers.ts";
import { completeOf, FakeLibrary, getOf, readOf } from "../../test/support/library.ts";
import { resultOf } from "../../test/support/operation.ts";
import { Cancellation } from "../core/cancellation.ts";
import { ToolContext } from "../core/context.ts";
import { ToolError, toolErrorCodes, type ToolErrorCode } from "../core/errors.ts";
import type { Caller, Middleware, Outcome, ResolvedOperation, Resolver } from "../core/operation.ts";
import type { ListKind } from "../core/provider.ts";
import { ToolResult, type ToolOutput } from "../core/result.ts";
import { CompositeToolProvider } from "../providers/composite.ts";
import { createCaller } from "./call.ts";

const ctx = new ToolContext();

/** A caller of `fs__read`, whose tool does `answer`. */
function callerOf(answer: FakeProvider["answer"], middleware: readonly Middleware[] = []) {
  const provider = new FakeProvider("fs", ["read"]);
  provider.answer = answer;
  const kept = keptLog();
  const resolver = resolverOf(itemOf(provider, "read"));
  return { provider, kept, caller: createCaller({ resolver, middleware, log: kept.log }) };
}

/** A layer that keeps what passes it. */
function recorder(): Middleware & { seen: ResolvedOperation[] } {
  const seen: ResolvedOperation[] = [];
  return {
    name: "recorder",
    seen,
    call: (operation, ctx, next) => {
      seen.push(operation);
      return next(operation, ctx);
    },
  };
}

const hides = (...names: readonly string[]): Middleware => ({
  name: "hides",
  visible: (item) => !names.includes(item.canonicalName),
});

const read = (caller: Caller): Promise<Outcome> => caller.call(callOf("fs__read"), ctx);
const textOf = (outcome: Outcome): string =>
  outcome.type === "error" ? outcome.error.message : ToolResult.text(resultOf(outcome));
const codeOf = (outcome: Outcome): unknown =>
  outcome.type === "error" ? outcome.error.code : resultOf(outcome).metadata?.["code"];

describe("a call", () => {
  test("gives the provider its own name, the arguments and the context", async () => {
    const { caller, provider } = callerOf((name, args, given) =>
      ToolResult.structured([name, args, given.agentId]),
    );
    const outcome = await caller.call(callOf("fs__read", { path: "/a" }), new ToolContext({ agentId: "me" }));
    expect(outcome).toEqual({
      type: "result",
      result: ToolResult.structured(["read", { path: "/a" }, "me"]),
    });
    expect(provider.called).toEqual(["read"]);
  });

  test("shows guards the canonical name, however the caller wrote it", async () => {
    const record = recorder();
    const { caller } = callerOf(() => "ok", [record]);
    await caller.call({ ...callOf("read"), meta: { k: 1 } }, ctx);
    expect(record.seen).toMatchObject([{ name: "read", canonicalName: "fs__read", meta: { k: 1 } }]);
  });

  test("a string is a success", async () => {
    const { caller } = callerOf(() => "hello");
    expect(await read(caller)).toEqual({
      type: "result",
      result: { content: [{ type: "text", text: "hello" }] },
    });
  });

  test("a result passes as it is, unknown members and failures too", async () => {
    const result = { content: [{ type: "hologram" }], isError: true, extra: { more: 1 }, _meta: { k: 2 } };
    const { caller } = callerOf(() => result as unknown as ToolResult);
    const outcome = await read(caller);
    expect(outcome).toEqual({ type: "result", result });
  });

  test.each([null, undefined, 7, true, [], {}, { content: "text" }, { content: [null] }, { text: "x" }])(
    "an answer of %j is the tool's fault, and says so",
    async (answer) => {
      const { caller } = callerOf(() => answer as unknown as ToolOutput);
      const outcome = await read(caller);
      expect(outcome).toMatchObject({ type: "result", result: { isError: true } });
      expect(codeOf(outcome)).toBe("InvalidOutput");
      expect(textOf(outcome)).toMatch(
        /^fs__read answered neither a string nor a result .* A tool returns a string/,
      );
    },
  );

  test("a slow call does not delay a fast one", async () => {
    const slow = deferred<string>();
    const { caller } = callerOf((_name, args) => (args["slow"] ? slow.promise : "fast"));
    const first = caller.call(callOf("fs__read", { slow: true }), ctx);
    expect(textOf(await caller.call(callOf("fs__read"), ctx))).toBe("fast");
    slow.resolve("slow");
    expect(textOf(await first)).toBe("slow");
  });

  test("that was cancelled before it ran reaches no provider", async () => {
    const cancellation = new Cancellation();
    cancellation.cancel("changed my mind");
    const record = recorder();
    const { caller, provider } = callerOf(() => "ok", [record]);
    const outcome = await caller.call(callOf("fs__read"), new ToolContext({ cancellation }));
    expect(outcome).toMatchObject({ type: "error", error: { code: "Cancelled" } });
    expect(provider.called).toEqual([]);
    expect(record.seen).toHaveLength(1);
  });

  test("that fails because it was cancelled is cancelled, not an unexpected failure", async () => {
    const cancellation = new Cancellation();
    const { caller, kept } = callerOf((_name, _args, { signal }) => {
      cancellation.cancel("changed my mind");
      throw signal.reason;
    });
    const outcome = await caller.call(callOf("fs__read"), new ToolContext({ cancellation }));
    expect(outcome).toMatchObject({ type: "error", error: { code: "Cancelled", cause: "changed my mind" } });
    expect(kept.lines).toEqual([]);
  });
});

describe("an error", () => {
  // Written out: a change of this table is a change of what clients see.
  const table: [ToolErrorCode, "error" | "result"][] = [
    ["NotFound", "error"],
    ["InvalidArguments", "result"],
    ["InvalidOutput", "result"],
    ["ExecutionFailed", "result"],
    ["PermissionDenied", "result"],
    ["TimedOut", "result"],
    ["ResultTooLarge", "result"],
    ["Unavailable", "result"],
    ["Unsupported", "result"],
    ["TooManyRequests", "error"],
    ["MissingClientCapability", "error"],
    ["ClientRefused", "result"],
    ["Cancelled", "error"],
    ["UpstreamError", "error"],
  ];

  test("every code is in the table", () => {
    expect(Object.entries(toolErrorCodes).map(([code, { as }]) => [code, as])).toEqual(table);
  });

  test.each(table)("%s comes out as %s, from a tool and from a guard", async (code, as) => {
    const error = new ToolError(code, "because", { data: { k: 1 } });
    const result = {
      content: [{ type: "text", text: "because" }],
      isError: true,
      metadata: { code },
    };
    const expected = as === "error" ? { type: "error", error } : { type: "result", result };
    const tool = callerOf(() => Promise.reject(error));
    expect(await read(tool.caller)).toStrictEqual(expected);
    const guard: Middleware = { name: "guard", call: () => Promise.reject(error) };
    const guarded = callerOf(() => "ok", [guard]);
    expect(await read(guarded.caller)).toStrictEqual(expected);
    expect(guarded.provider.called).toEqual([]);
    expect([...tool.kept.lines, ...guarded.kept.lines]).toEqual([]);
  });

  test.each([
    ["an Error", new Error("secret token 123")],
    ["a string", "secret token 123"],
    ["an object", { toString: (): string => "secret token 123" }],
  ])(
    "that nobody expected (%s) stays in the log, under the reference that the caller gets",
    async (_, thrown) => {
      const { caller, kept } = callerOf(() => {
        throw thrown;
      });
      const outcome = await read(caller);
      expect(outcome).toMatchObject({ type: "result", result: { isError: true } });
      expect(codeOf(outcome)).toBe("ExecutionFailed");
      expect(JSON.stringify(outcome)).not.toContain("secret");
      expect(kept.lines).toHaveLength(1);
      const { level, message, fields } = kept.lines[0]!;
      expect([level, message]).toEqual(["error", "fs__read failed unexpectedly"]);
      expect(fields["error"]).toContain("secret token 123");
      expect(fields["reference"]).toMatch(/^[0-9a-f]{8}$/);
      expect(textOf(outcome)).toBe(
        `fs__read failed unexpectedly. The log has the details under reference ${String(fields["reference"])}.`,
      );
    },
  );

  test.each([
    ["null", null],
    ["undefined", undefined],
    ["a symbol", Symbol("x")],
    ["an object without a prototype", Object.create(null)],
    [
      "an object whose text throws",
      {
        toString: (): string => {
          throw new Error("no");
        },
      },
    ],
  ])("may be anything that can be thrown: %s", async (_what, thrown: unknown) => {
    const { caller, kept } = callerOf(() => {
      throw thrown;
    });
    expect(codeOf(await read(caller))).toBe("ExecutionFailed");
    expect(kept.lines).toMatchObject([{ fields: { error: expect.any(String) } }]);
  });

  test("of a layer that throws at once is caught as well", async () => {
    const { caller } = callerOf(
      () => "ok",
      [
        {
          name: "broken",
          call: () => {
            throw new Error("secret");
          },
        },
      ],
    );
    expect(codeOf(await read(caller))).toBe("ExecutionFailed");
  });
});

describe("a name that nothing has", () => {
  test("is an error, and still walks the chain", async () => {
    const record = recorder();
    const { caller, provider } = callerOf(() => "ok", [record]);
    const outcome = await caller.call(callOf("fs__gone", { a: 1 }), ctx);
    expect(outcome).toMatchObject({
      type: "error",
      error: { code: "NotFound", message: "Unknown tool: fs__gone" },
    });
    expect(record.seen).toStrictEqual([
      {
        kind: "tools/call",
        name: "fs__gone",
        canonicalName: "fs__gone",
        arguments: { a: 1 },
        meta: {},
        answers: undefined,
        subscriber: undefined,
      },
    ]);
    expect(provider.called).toEqual([]);
  });

  const failing = (error: unknown): Resolver => ({
    ...resolverOf(),
    resolve: () => Promise.reject(error as Error),
  });

  test("because its owner is away is a result that says so, and walks the chain", async () => {
    const record = recorder();
    const caller = createCaller({ resolver: failing(unavailable("fs")), middleware: [record] });
    const outcome = await caller.call(callOf("fs__read"), ctx);
    expect(outcome).toMatchObject({ type: "result", result: { isError: true } });
    expect(textOf(outcome)).toBe("fs cannot be reached now");
    expect(record.seen).toHaveLength(1);
    expect(record.seen[0]?.item).toBeUndefined();
  });

  test("because its owner broke is unknown, and logged", async () => {
    const kept = keptLog();
    const caller = createCaller({ resolver: failing(new Error("secret")), log: kept.log });
    expect(await caller.call(callOf("fs__read"), ctx)).toMatchObject({
      type: "error",
      error: { code: "NotFound", message: "Unknown tool: fs__read" },
    });
    expect(kept.lines).toMatchObject([
      {
        level: "error",
        message: "cannot resolve fs__read",
        fields: { error: expect.stringContaining("secret") },
      },
    ]);
  });

  test("a resolver that throws at once is caught as well", async () => {
    const resolver: Resolver = {
      ...resolverOf(),
      resolve: () => {
        throw unavailable("fs");
      },
    };
    expect(codeOf(await createCaller({ resolver }).call(callOf("fs__read"), ctx))).toBe("Unavailable");
  });
});

describe("what a caller cannot see", () => {
  const fs = new FakeProvider("fs", ["read", "write"]);
  const resolver = resolverOf(itemOf(fs, "read"), itemOf(fs, "write"));
  const listed = async (caller: Caller): Promise<string[]> =>
    (await caller.list(ctx)).map((tool) => tool.name);

  test("is not listed and is an unknown tool, under the name that was asked", async () => {
    const record = recorder();
    const caller = createCaller({ resolver, middleware: [hides("fs__write"), record] });
    expect(await listed(caller)).toEqual(["fs__read"]);
    for (const name of ["fs__write", "write"]) {
      const outcome = await caller.call(callOf(name), ctx);
      expect(outcome).toMatchObject({ type: "error", error: { message: `Unknown tool: ${name}` } });
    }
    expect(record.seen.map((seen) => [seen.canonicalName, seen.item])).toEqual([
      ["fs__write", undefined],
      ["write", undefined],
    ]);
    expect(fs.called).toEqual([]);
  });

  test("is decided by every filter, each with the caller's context", async () => {
    const seen: ToolContext[] = [];
    const all: Middleware = { name: "all", visible: (_item, ctx) => seen.push(ctx) > 0 };
    const caller = createCaller({ resolver, middleware: [all, hides("fs__read"), hides("fs__write")] });
    expect(await listed(caller)).toEqual([]);
    expect(seen).toEqual([ctx, ctx]);
  });

  test("is also what a filter could not judge: it is hidden, and the log says why", async () => {
    const kept = keptLog();
    const broken: Middleware = {
      name: "policy",
      visible: (item) => {
        if (item.name === "write") throw new Error("no such rule");
        return true;
      },
    };
    const caller = createCaller({ resolver, middleware: [broken], log: kept.log });
    expect(await listed(caller)).toEqual(["fs__read"]);
    expect(codeOf(await caller.call(callOf("fs__write"), ctx))).toBe("NotFound");
    const line = {
      level: "error",
      message: "policy could not judge fs__write, so it is hidden",
      fields: { error: expect.stringContaining("no such rule") },
    };
    expect(kept.lines).toEqual([line, line]);
  });

  test("is also what a filter answers with anything but true: a promise is not a yes", async () => {
    const later = { name: "later", visible: async () => false } as unknown as Middleware;
    const caller = createCaller({ resolver, middleware: [later] });
    expect(await listed(caller)).toEqual([]);
    expect(codeOf(await caller.call(callOf("fs__read"), ctx))).toBe("NotFound");
  });
});

describe("what is found", () => {
  const [a, b] = [FakeProvider.unlisted("a"), new FakeProvider("b", ["read"])];
  const item = itemOf(a, "read", itemOf(b, "read"));
  const resolver: Resolver = { ...resolverOf(), resolve: () => item };
  const find = (middleware: readonly Middleware[]) =>
    createCaller({ resolver, middleware }).find(callOf("read"), ctx);

  test("is what a call would be tried on first", async () => {
    expect(await find([])).toBe(item);
    expect((await find([hides("a__read")]))?.canonicalName).toBe("b__read");
    expect(await find([hides("a__read", "b__read")])).toBeUndefined();
    expect([...a.called, ...b.called]).toEqual([]);
  });

  test("is nothing where there is nothing, or nobody can say", async () => {
    const nothing = createCaller({ resolver: resolverOf() });
    expect(await nothing.find(callOf("read"), ctx)).toBeUndefined();
    const broken = createCaller({
      resolver: { ...resolverOf(), resolve: () => Promise.reject(unavailable("fs")) },
    });
    expect(await broken.find(callOf("read"), ctx)).toBeUndefined();
  });
});

describe("every kind of item", () => {
  const lib = new FakeLibrary("lib", {
    tools: ["t", "hidden"],
    prompts: ["p", "hidden"],
    resources: ["x://a", "x://hidden"],
    templates: ["x://t/{a}", "y://hidden/{a}"],
  });
  const shown: Middleware = { name: "shown", visible: (item) => !item.name.includes("hidden") };
  const resolver = new CompositeToolProvider().add(lib);
  const caller = createCaller({ resolver, middleware: [shown] });

  test.each([
    ["tool", "lib__t"],
    ["prompt", "lib__p"],
    ["resource", "lib__x://a"],
    ["resourceTemplate", "lib__x://t/{a}"],
  ] as const)("is listed where it is visible: %s", async (kind, name) => {
    expect(await caller.items(kind, ctx)).toMatchObject([{ kind, canonicalName: name }]);
  });

  test("that is hidden is not there, for whatever is to be done with it", async () => {
    for (const operation of [
      getOf("lib__hidden"),
      getOf("hidden"),
      readOf("x://hidden"),
      readOf("y://hidden/1"),
      completeOf("hidden"),
      completeOf("y://hidden/{a}"),
    ]) {
      expect(await caller.find(operation, ctx)).toBeUndefined();
      expect(await caller.call(operation, ctx)).toMatchObject({ type: "error", error: { code: "NotFound" } });
    }
    expect(lib.asked.filter((one) => !one.startsWith("list"))).toEqual([]);
  });

  test("what can be done with all of it is the resolver's to say", async () => {
    expect(await caller.info()).toEqual(await resolver.info());
  });
});

describe("the list", () => {
  test("keeps the resolver's order and bytes", async () => {
    const fs = new FakeProvider("fs", ["b", "a", "c"]);
    const caller = createCaller({ resolver: resolverOf(...fs.tools.map((name) => itemOf(fs, name))) });
    const once = JSON.stringify(await caller.list(ctx));
    expect(JSON.parse(once)).toMatchObject([{ name: "fs__b" }, { name: "fs__a" }, { name: "fs__c" }]);
    expect(JSON.stringify(await caller.list(ctx))).toBe(once);
  });

  test("is watched at the resolver", () => {
    const watchers = new Set<(kind: ListKind) => void>();
    const resolver: Resolver = {
      ...resolverOf(),
      watch: (listener) => {
        watchers.add(listener);
        return () => watchers.delete(listener);
      },
    };
    const changes: ListKind[] = [];
    const stop = createCaller({ resolver }).watch((kind) => changes.push(kind));
    for (const watcher of watchers) watcher("prompts");
    expect(changes).toEqual(["prompts"]);
    stop();
    expect(watchers.size).toBe(0);
  });
});

describe("a name that several providers may have", () => {
  /** `read` is asked of each in turn. */
  function search(middleware: readonly Middleware[] = []) {
    const [a, b, c] = [
      FakeProvider.unlisted("a"),
      FakeProvider.unlisted("b"),
      new FakeProvider("c", ["read"]),
    ];
    const item = itemOf(a, "read", itemOf(b, "read", itemOf(c, "read")));
    const caller = createCaller({ resolver: { ...resolverOf(), resolve: () => item }, middleware });
    return { a, b, c, call: () => caller.call(callOf("read", { path: "/" }), ctx) };
  }

  test("goes on as long as they say that it is not there", async () => {
    const { a, b, c, call } = search();
    expect(textOf(await call())).toBe("c:read");
    expect([a, b, c].map((provider) => provider.called)).toEqual([["read"], ["read"], ["read"]]);
  });

  test("stops at the first that has it", async () => {
    const { b, c, call } = search();
    b.tools = ["read"];
    expect(textOf(await call())).toBe("b:read");
    expect(c.called).toEqual([]);
  });

  test.each<ToolErrorCode>([
    "Unavailable",
    "UpstreamError",
    "ExecutionFailed",
    "PermissionDenied",
    "Cancelled",
  ])("stops at %s", async (code) => {
    const { a, b, call } = search();
    a.tools = ["read"];
    a.answer = () => Promise.reject(new ToolError(code, "no"));
    expect(codeOf(await call())).toBe(code);
    expect(b.called).toEqual([]);
  });

  test("stops at an unexpected failure", async () => {
    const { a, b, call } = search();
    a.tools = ["read"];
    a.answer = () => Promise.reject(new Error("broken"));
    expect(codeOf(await call())).toBe("ExecutionFailed");
    expect(b.called).toEqual([]);
  });

  test("is judged by every guard anew, under each candidate's own canonical name", async () => {
    const record = recorder();
    const { call } = search([record]);
    await call();
    expect(record.seen.map((seen) => [seen.name, seen.canonicalName, seen.arguments])).toEqual([
      ["read", "a__read", { path: "/" }],
      ["read", "b__read", { path: "/" }],
      ["read", "c__read", { path: "/" }],
    ]);
  });

  test("a guard that refuses one candidate refuses it there", async () => {
    const guard: Middleware = {
      name: "guard",
      call: async (operation, ctx, next) => {
        if (operation.canonicalName === "b__read") throw new ToolError("PermissionDenied", "not b");
        return next(operation, ctx);
      },
    };
    const { b, c, call } = search([guard]);
    expect(codeOf(await call())).toBe("PermissionDenied");
    expect([...b.called, ...c.called]).toEqual([]);
  });

  test.each(["a", "b"])(
    "a candidate that is hidden (%s) is never called: it is not there, and the next is",
    async (hidden) => {
      const record = recorder();
      const { a, b, call } = search([hides(`${hidden}__read`), record]);
      a.tools = hidden === "a" ? ["read"] : [];
      b.tools = hidden === "b" ? ["read"] : [];
      expect(textOf(await call())).toBe("c:read");
      expect((hidden === "a" ? a : b).called).toEqual([]);
      expect(record.seen.map((seen) => seen.canonicalName)).not.toContain(`${hidden}__read`);
    },
  );

  test("with every candidate hidden it is unknown", async () => {
    const { a, b, c, call } = search([hides("a__read", "b__read", "c__read")]);
    expect(await call()).toMatchObject({ type: "error", error: { message: "Unknown tool: read" } });
    expect([...a.called, ...b.called, ...c.called]).toEqual([]);
  });

  test("that nobody has is unknown in the end", async () => {
    const { c, call } = search();
    c.tools = [];
    expect(codeOf(await call())).toBe("NotFound");
    expect(c.called).toEqual(["read"]);
  });
});
