import { once } from "node:events";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { describe, expect, test as base } from "vitest";
import { Cancellation } from "../../src/core/cancellation.ts";
import { ToolContext, type InputRequest } from "../../src/core/context.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { systemClock } from "../../src/core/systemClock.ts";
import { dialHttp } from "../../src/transports/http/dial.ts";
import { createSpawn } from "../../src/transports/spawn.ts";
import { dialStdio } from "../../src/transports/stdio.ts";
import { Upstream } from "../../src/upstreams/upstream.ts";
import type { Dial } from "../../src/wire/link.ts";
import { root, serverScript } from "../support/paths.ts";
import { deferred } from "../support/providers.ts";

// All that a server has, through the upstream of both eras, with servers of the official SDKs.

interface Fixtures {
  /** Connects to a server started by these arguments of Node, or behind another dialler, and has read its lists. */
  readonly connect: (server: readonly string[] | Dial) => Promise<Upstream>;
  /** Starts the SDK's server of 2026 on HTTP. */
  readonly sdkOverHttp: () => Promise<Dial>;
}

const test = base.extend<Fixtures>({
  // oxlint-disable-next-line eslint/no-empty-pattern -- vitest reads the fixtures that one needs from the pattern.
  connect: async ({}, use) => {
    const spawner = await createSpawn();
    const upstreams: Upstream[] = [];
    await use(async (server) => {
      const dial =
        typeof server === "function"
          ? server
          : dialStdio({
              spawn: spawner.spawn,
              command: process.execPath,
              args: [...server],
              cwd: root,
              env: {},
            });
      const clientInfo = { name: "toolgate-tests", version: "1.0.0" };
      const upstream = new Upstream({
        namespace: "peer",
        dial,
        clock: systemClock,
        log: () => {},
        clientInfo,
      });
      upstreams.push(upstream);
      upstream.start();
      await upstream.settled();
      const { state, error } = upstream.status;
      if (state !== "ready") throw new Error(error);
      return upstream;
    });
    await Promise.all(upstreams.map((upstream) => upstream.close()));
    await spawner.close();
  },
  // oxlint-disable-next-line eslint/no-empty-pattern -- vitest reads the fixtures that one needs from the pattern.
  sdkOverHttp: async ({}, use) => {
    const child = spawn(process.execPath, [sdkServer, "http"], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    await use(async () => {
      const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
      return dialHttp({ url });
    });
    child.kill();
    await exited;
  },
});

const sdkServer = `${root}/test/fixtures/sdkServer.mjs`;
const names = (all: readonly JsonObject[], key = "name"): unknown[] => all.map((one) => one[key]);

describe("the everything server (2025)", () => {
  const everything = [serverScript("everything"), "stdio"];

  test("has its lists, resources, prompts and completions served", async ({ connect }) => {
    const { resources, prompts, ...upstream } = await connectAll(connect, everything);
    const ctx = new ToolContext();
    expect(upstream.info?.capabilities).toMatchObject({ prompts: {}, resources: { subscribe: true } });
    expect(upstream.info?.instructions).toEqual(expect.any(String));
    const [{ uri }] = (await resources.listResources()) as [{ uri: string }];
    expect(await resources.readResource(uri, ctx)).toMatchObject({ contents: [{ uri }] });
    expect(names(await resources.listResourceTemplates(), "uriTemplate")).toContain(
      "demo://resource/dynamic/text/{resourceId}",
    );
    expect(await resources.readResource("demo://resource/dynamic/text/1", ctx)).toMatchObject({
      contents: [{ text: expect.stringContaining("Resource 1") }],
    });
    const unknown = resources.readResource("demo://nowhere", ctx);
    await expect(unknown).rejects.toMatchObject({ code: "NotFound" });
    expect(names(await prompts.listPrompts())).toContain("args-prompt");
    expect(await prompts.getPrompt("args-prompt", { city: "Rome" }, ctx)).toMatchObject({
      messages: [{ content: { text: expect.stringContaining("Rome") } }],
    });
    const completion = upstream.complete(
      {
        ref: { type: "ref/prompt", name: "completable-prompt" },
        argument: { name: "department", value: "E" },
      },
      ctx,
    );
    expect(await completion).toMatchObject({ completion: { values: ["Engineering"] } });
  });

  test("asks the client whose call runs", async ({ connect }) => {
    const upstream = await connect(everything);
    const asked: InputRequest[] = [];
    const answers: Record<InputRequest["method"], JsonObject> = {
      "elicitation/create": { action: "accept", content: { name: "Ada" } },
      "sampling/createMessage": {
        role: "assistant",
        model: "m",
        content: { type: "text", text: "as the model says" },
      },
      "roots/list": { roots: [{ uri: "file:///work", name: "work" }] },
    };
    const onAsk = async (request: InputRequest): Promise<JsonObject> => {
      asked.push(request);
      return answers[request.method];
    };
    const call = (tool: string, args: JsonObject = {}) =>
      upstream.callTool(tool, args, new ToolContext({ onAsk }));
    expect(JSON.stringify(await call("trigger-elicitation-request"))).toContain("Ada");
    const sampling = await call("trigger-sampling-request", { prompt: "Say it", maxTokens: 5 });
    expect(JSON.stringify(sampling)).toContain("as the model says");
    expect(names(asked as unknown as JsonObject[], "method")).toEqual(
      expect.arrayContaining(["elicitation/create", "sampling/createMessage"]),
    );
  });

  test("tells of changes to who subscribes", async ({ connect }) => {
    const upstream = await connect(everything);
    const [{ uri }] = (await upstream.resources.listResources()) as [{ uri: string }];
    const heard = deferred<JsonObject>();
    await upstream.resources.subscribe!(
      uri,
      { updated: heard.resolve, cancellation: new Cancellation() },
      new ToolContext(),
    );
    await upstream.callTool("toggle-subscriber-updates", {}, new ToolContext());
    expect(await heard.promise).toEqual({ uri });
  });
});

describe.each(["stdio", "http"])("a server of the official SDK of 2026 on %s", (transport) => {
  const served = ({ connect, sdkOverHttp }: Fixtures): Promise<Upstream> =>
    transport === "stdio" ? connect([sdkServer, "stdio"]) : sdkOverHttp().then(connect);

  test("has its lists, resources, prompts and completions served", async ({ connect, sdkOverHttp }) => {
    const upstream = await served({ connect, sdkOverHttp });
    const { resources, prompts } = upstream;
    const ctx = new ToolContext();
    expect(upstream.status).toMatchObject({ era: "modern" });
    expect(await upstream.info()).toMatchObject({ instructions: "Ask for a name first." });
    expect(names(await resources.listResources(), "uri")).toEqual(["note://one"]);
    expect(names(await resources.listResourceTemplates(), "uriTemplate")).toEqual(["note://of/{who}"]);
    expect(await resources.readResource("note://of/ada", ctx)).toMatchObject({
      contents: [{ text: "the note of ada" }],
    });
    await expect(resources.readResource("note://none", ctx)).rejects.toMatchObject({ code: "NotFound" });
    expect(names(await prompts.listPrompts())).toEqual(["travel"]);
    const travel = await prompts.getPrompt("travel", { city: "Rome" }, ctx);
    expect(travel).toMatchObject({ messages: [{ content: { text: "To Rome" } }] });
    expect(travel).not.toHaveProperty("resultType");
    const ref = { type: "ref/resource", uri: "note://of/{who}" } as const;
    expect(await upstream.complete({ ref, argument: { name: "who", value: "a" } }, ctx)).toMatchObject({
      completion: { values: ["ada", "alan"] },
    });
  });

  test("asks in its result, and goes on with the answers", async ({ connect, sdkOverHttp }) => {
    const upstream = await served({ connect, sdkOverHttp });
    const clientCapabilities = { elicitation: { form: {} } };
    const asked = await upstream.callTool("greet", {}, new ToolContext({ clientCapabilities }));
    expect(asked).toMatchObject({
      type: "input_required",
      inputRequests: { who: { method: "elicitation/create", params: { message: "Who are you?" } } },
      requestState: "asked",
    });
    const answers = {
      responses: { who: { action: "accept", content: { name: "Ada" } } },
      requestState: "asked",
    };
    expect(
      await upstream.callTool("greet", {}, new ToolContext({ clientCapabilities, answers })),
    ).toMatchObject({
      content: [{ text: "Hello, Ada! asked" }],
    });
    await expect(upstream.callTool("greet", {}, new ToolContext())).rejects.toMatchObject({
      data: { error: { code: -32021, data: { requiredCapabilities: { elicitation: {} } } } },
    });
  });

  test("tells of changes to who listens, and logs to who calls", async ({ connect, sdkOverHttp }) => {
    const upstream = await served({ connect, sdkOverHttp });
    const updated = deferred<JsonObject>();
    const logged: unknown[] = [];
    await upstream.resources.subscribe!(
      "note://one",
      { updated: updated.resolve, cancellation: new Cancellation() },
      new ToolContext(),
    );
    const ctx = new ToolContext({ logLevel: "info", onLog: ({ data }) => logged.push(data) });
    await upstream.callTool("touch", {}, ctx);
    expect(await updated.promise).toEqual({ uri: "note://one" });
    expect(logged).toEqual(["touched"]);
  });
});

/** An upstream with what it says of itself. */
async function connectAll(connect: Fixtures["connect"], server: readonly string[]) {
  const upstream = await connect(server);
  const { resources, prompts } = upstream;
  return {
    resources,
    prompts,
    info: await upstream.info(),
    complete: upstream.complete.bind(upstream),
  };
}
