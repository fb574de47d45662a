import { describe, expect, test, vi } from "vitest";
import { Cancellation } from "./cancellation.ts";
import { ToolContext, type InputRequest, type LogEntry, type Progress } from "./context.ts";
import type { ApprovalHandler, SandboxConfig } from "./effects.ts";
import type { JsonObject } from "./json.ts";
import { localPrincipal } from "./principal.ts";

const question: InputRequest = { method: "elicitation/create", params: { message: "Sure?" } };

test("an empty one says what is not known, and is the local user's", () => {
  const ctx = new ToolContext();
  expect([ctx.agentId, ctx.sessionKey]).toEqual(["", ""]);
  expect([ctx.workspacePath, ctx.sandbox, ctx.approvals, ctx.client]).toEqual(Array(4).fill(undefined));
  expect([ctx.answers, ctx.logLevel]).toEqual([undefined, undefined]);
  expect([ctx.metadata, ctx.meta, ctx.clientCapabilities]).toEqual([{}, {}, {}]);
  expect(ctx.principal).toBe(localPrincipal);
  expect(ctx.cancellation.cancelled).toBe(false);
  expect(ctx.signal).toBe(ctx.cancellation.signal);
});

test("what it was made with can be read", () => {
  const init = {
    agentId: "agent",
    sessionKey: "session",
    workspacePath: "/work",
    sandbox: { workspace: "read", network: [] } satisfies SandboxConfig,
    approvals: { request: () => Promise.resolve({ type: "approved" }) } satisfies ApprovalHandler,
    metadata: { a: 1 },
    principal: { id: "ada" },
    client: { name: "client", version: "1" },
    clientCapabilities: { roots: {} },
    answers: { responses: { a: {} } },
    meta: { "example.com/k": 1 },
    logLevel: "error" as const,
    cancellation: new Cancellation(),
  };
  expect(new ToolContext(init)).toMatchObject(init);
});

describe("a copy", () => {
  test("has the changes, keeps the rest and shares the cancellation; the original stays", () => {
    const ctx = new ToolContext({ agentId: "agent", workspacePath: "/a" });
    const sandbox: SandboxConfig = { workspace: "none", network: [] };
    const approvals: ApprovalHandler = { request: () => Promise.resolve({ type: "denied" }) };
    const copy = ctx.withWorkspacePath("/b").withSandbox(sandbox).withApprovals(approvals);
    expect(copy).toMatchObject({ agentId: "agent", workspacePath: "/b", sandbox, approvals });
    expect(copy.cancellation).toBe(ctx.cancellation);
    expect([ctx.workspacePath, ctx.sandbox, ctx.approvals]).toEqual(["/a", undefined, undefined]);
  });

  test("adds to the metadata, and equal keys are replaced", () => {
    const ctx = new ToolContext({ metadata: { a: 1, b: 1 } });
    expect(ctx.withMetadata({ b: 2, c: 2 }).metadata).toEqual({ a: 1, b: 2, c: 2 });
    expect(ctx.metadata).toEqual({ a: 1, b: 1 });
  });

  test("keeps what the client said, and can be without its answers", () => {
    const answers = { responses: {}, requestState: "s" };
    const ctx = new ToolContext({
      answers,
      meta: { k: 1 },
      logLevel: "info",
      clientCapabilities: { roots: {} },
    });
    expect(ctx.with({ agentId: "a" })).toMatchObject({
      answers,
      meta: { k: 1 },
      logLevel: "info",
      clientCapabilities: { roots: {} },
    });
    expect(ctx.with({ answers: undefined }).with({ agentId: "a" }).answers).toBeUndefined();
    expect(ctx.answers).toBe(answers);
  });

  test("can have a cancellation of its own", () => {
    const ctx = new ToolContext();
    const copy = ctx.with({ cancellation: ctx.cancellation.child() });
    copy.cancellation.cancel("time is up");
    expect(copy.signal.aborted).toBe(true);
    expect(ctx.signal.aborted).toBe(false);
  });

  test("reports and asks where the original does", async () => {
    const onProgress = vi.fn<(progress: Progress) => void>();
    const onAsk = vi.fn<(request: InputRequest) => Promise<JsonObject>>(() =>
      Promise.resolve({ action: "accept" }),
    );
    const copy = new ToolContext({ onProgress, onAsk }).withMetadata({});
    copy.progress({ progress: 1, total: 2 });
    expect(onProgress).toHaveBeenCalledExactlyOnceWith({ progress: 1, total: 2 });
    await expect(copy.ask(question)).resolves.toEqual({ action: "accept" });
    expect(onAsk).toHaveBeenCalledExactlyOnceWith(question);
  });
});

test("a copy lets go of the connection where the original does, and where none can it does nothing", () => {
  const onCloseStream = vi.fn<() => void>();
  new ToolContext({ onCloseStream }).withMetadata({}).closeStream();
  expect(onCloseStream).toHaveBeenCalledTimes(1);
  expect(() => new ToolContext().closeStream()).not.toThrow();
});

test("a log entry has a logger only where one is named", () => {
  const onLog = vi.fn<(entry: LogEntry) => void>();
  const ctx = new ToolContext({ onLog });
  ctx.log("info", { a: 1 });
  ctx.log("error", "broken", "files");
  expect(onLog.mock.calls.flat()).toStrictEqual([
    { level: "info", data: { a: 1 } },
    { level: "error", data: "broken", logger: "files" },
  ]);
});

test("where nobody listens, reports go nowhere and questions are refused by name", async () => {
  const ctx = new ToolContext();
  ctx.progress({ progress: 1 });
  ctx.log("info", "unheard");
  await expect(ctx.ask(question)).rejects.toMatchObject({
    code: "Unsupported",
    message: "This door cannot ask the client for elicitation/create.",
  });
});
