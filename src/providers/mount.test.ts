import { describe, expect, test } from "vitest";
import {
  callOf,
  deferred,
  definition,
  FakeProvider,
  keptLog,
  unavailable,
} from "../../test/support/providers.ts";
import { resultOf } from "../../test/support/operation.ts";
import { ToolContext } from "../core/context.ts";
import { ToolError } from "../core/errors.ts";
import type { ToolProvider } from "../core/provider.ts";
import { createCaller } from "../runtime/call.ts";
import { BuiltinToolProvider } from "./builtin.ts";
import { Mount } from "./mount.ts";
import { exposedNameOf, type Expose } from "./shelf.ts";
import { toolProviderContract } from "./toolProvider.contract.ts";

const ctx = new ToolContext();

toolProviderContract("A caller over a Mount", (tools): ToolProvider => {
  const inner = BuiltinToolProvider.of(
    tools.map((tool) => tool.definition),
    (name, args, ctx) => tools.find((tool) => tool.name === name)!.execute(args, ctx),
  );
  const caller = createCaller({ resolver: new Mount(inner, { log: () => {} }) });
  return {
    namespace: inner.namespace,
    listTools: () => caller.list(ctx),
    callTool: async (name, args, ctx) => {
      const outcome = await caller.call(callOf(name, args), ctx);
      if (outcome.type === "error") throw outcome.error;
      return resultOf(outcome);
    },
  };
});

function mountOf(provider: ToolProvider, expose?: Expose) {
  const kept = keptLog();
  return { kept, mount: new Mount(provider, { log: kept.log, ...(expose && { expose }) }) };
}

const names = async (mount: Mount): Promise<string[]> => (await mount.items("tool")).map(exposedNameOf);

describe("a mount by itself", () => {
  test("serves its provider's own names, unmangled, whatever they are", async () => {
    const odd = ["b", "a", "x.y", "a__b", "_", "x".repeat(80)];
    const { mount } = mountOf(new FakeProvider("fs", odd));
    expect(await names(mount)).toEqual(odd);
    for (const item of await mount.items("tool")) expect(item.definition).not.toHaveProperty("_meta");
    const item = await mount.resolve(callOf("x.y"));
    expect(item).toMatchObject({ kind: "tool", name: "x.y", canonicalName: "fs__x.y", facts: {} });
  });

  test("does not know another name, nor its own canonical ones", async () => {
    const { mount } = mountOf(new FakeProvider("fs", ["read"]));
    expect(await mount.resolve(callOf("write"))).toBeUndefined();
    expect(await mount.resolve(callOf("fs__read"))).toBeUndefined();
  });

  test("carries the provider's facts", async () => {
    const fs = new FakeProvider("fs", ["read"]);
    fs.factsOf = (name) => ({ timeoutMs: name.length });
    expect((await mountOf(fs).mount.resolve(callOf("read")))?.facts).toEqual({ timeoutMs: 4 });
  });

  test("has any name where the provider cannot list, and lists none", async () => {
    const { mount } = mountOf(FakeProvider.unlisted("fs", ["read"]));
    expect(await mount.items("tool")).toEqual([]);
    expect(await mount.resolve(callOf("anything"))).toMatchObject({
      name: "anything",
      canonicalName: "fs__anything",
      definition: { name: "anything", inputSchema: { type: "object" } },
    });
  });

  test("while the provider is away the list is empty, and a call says why", async () => {
    const fs = new FakeProvider("fs", ["read"]);
    fs.listFailure = unavailable("fs");
    const { mount, kept } = mountOf(fs);
    expect(await mount.items("tool")).toEqual([]);
    expect(kept.lines).toMatchObject([{ message: "fs cannot list its tools now" }]);
    await expect(mount.resolve(callOf("read"))).rejects.toBe(fs.listFailure);
    fs.listFailure = undefined;
    expect(await names(mount)).toEqual(["read"]);
    expect(await mount.resolve(callOf("read"))).toBeDefined();
  });
});

describe("exposed names", () => {
  const upper: Expose = ({ own }) => own.toUpperCase();

  test("are what callers see, and lead back to the provider's own", async () => {
    const { mount } = mountOf(new FakeProvider("fs", ["read"]), upper);
    expect(await mount.resolve(callOf("READ"))).toMatchObject({
      name: "read",
      definition: { name: "READ", _meta: { "dev.toolgate/originalName": "read" } },
    });
  });

  test("are given once: who comes second is left out, by name", async () => {
    const { mount, kept } = mountOf(new FakeProvider("fs", ["read", "Read", "READ", "read"]), upper);
    expect((await mount.items("tool")).map((item) => item.name)).toEqual(["read"]);
    const warning = (name: string) => ({
      level: "warning",
      message: `fs__${name} is left out: its name READ is taken by fs__read`,
    });
    expect(kept.lines).toMatchObject([warning("Read"), warning("READ"), warning("read")]);
    expect(await mount.resolve(callOf("Read"))).toBeUndefined();
  });
});

describe("the catalogue", () => {
  test("is read once, also by many who wait at once", async () => {
    const fs = new FakeProvider("fs", ["read"]);
    const { mount } = mountOf(fs);
    await Promise.all([
      mount.items("tool"),
      mount.resolve(callOf("read")),
      mount.resolve(callOf("write")),
      mount.items("tool"),
    ]);
    await mount.items("tool");
    expect(fs.lists).toBe(1);
  });

  test("is there at once when it has been read", async () => {
    const { mount } = mountOf(new FakeProvider("fs", ["read"]));
    const first = mount.shelves.tool.catalogue();
    expect(first).toBeInstanceOf(Promise);
    expect(mount.shelves.tool.catalogue()).toBe(first);
    expect(mount.shelves.tool.catalogue()).not.toBe(await first);
    expect(mount.shelves.tool.catalogue()).toBe(await first);
  });

  test("is read again after a change, but not after a change of something else", async () => {
    const fs = new FakeProvider("fs", ["read"]);
    const { mount } = mountOf(fs);
    await mount.items("tool");
    fs.tools = ["write"];
    fs.change("prompts");
    fs.change("resources");
    expect(await names(mount)).toEqual(["read"]);
    fs.change();
    expect(await names(mount)).toEqual(["write"]);
    expect(fs.lists).toBe(2);
  });

  test("read while it changed serves who waited and is not kept", async () => {
    const fs = new FakeProvider("fs", ["old"]);
    const { mount } = mountOf(fs);
    const reading = deferred();
    fs.whileListing = () => reading.promise;
    const waiting = names(mount);
    fs.tools = ["new"];
    fs.change();
    fs.whileListing = undefined;
    const asked = names(mount);
    reading.resolve();
    expect(await waiting).toEqual(["old"]);
    expect(await asked).toEqual(["new"]);
    expect(await names(mount)).toEqual(["new"]);
    expect(fs.lists).toBe(2);
  });

  test("is read once after a change, though an older reading ends in between", async () => {
    const fs = new FakeProvider("fs", ["old"]);
    const { mount } = mountOf(fs);
    const [older, newer] = [deferred(), deferred()];
    fs.whileListing = () => older.promise;
    const waiting = names(mount);
    fs.tools = ["new"];
    fs.whileListing = () => newer.promise;
    fs.change();
    const first = names(mount);
    older.resolve();
    await waiting;
    const second = names(mount);
    newer.resolve();
    expect([await first, await second]).toEqual([["new"], ["new"]]);
    expect(fs.lists).toBe(2);
  });

  test("whose provider tells of a change while it begins to list is read again", async () => {
    const fs = new FakeProvider("fs", ["old"]);
    const { mount } = mountOf(fs);
    fs.whileListing = () => {
      fs.whileListing = undefined;
      fs.tools = ["new"];
      fs.change();
    };
    expect(await names(mount)).toEqual(["old"]);
    expect(await names(mount)).toEqual(["new"]);
  });

  test("that failed while it changed is asked for again", async () => {
    const fs = new FakeProvider("fs", ["read"]);
    const { mount } = mountOf(fs);
    fs.listFailure = unavailable("fs");
    fs.whileListing = () => fs.change();
    await expect(mount.resolve(callOf("read"))).rejects.toMatchObject({ code: "Unavailable" });
    fs.listFailure = fs.whileListing = undefined;
    expect(await names(mount)).toEqual(["read"]);
  });

  test("of a provider that tells of nothing is read once", async () => {
    let lists = 0;
    const quiet: ToolProvider = {
      namespace: "quiet",
      listTools: async () => {
        lists += 1;
        return [definition("a")];
      },
      callTool: async () => "a",
    };
    const { mount } = mountOf(quiet);
    await mount.items("tool");
    await mount.items("tool");
    expect(lists).toBe(1);
    expect(mount.watch(() => {})).toBeTypeOf("function");
  });
});

test("watch tells of changes and of what kind they are, until it is stopped", () => {
  const fs = new FakeProvider("fs");
  const changes: string[] = [];
  const stop = mountOf(fs).mount.watch((kind) => changes.push(kind));
  fs.change("prompts");
  fs.change("tools");
  stop();
  fs.change("tools");
  expect(changes).toEqual(["prompts", "tools"]);
});

test("an error that is no ToolError reaches the asker as it is", async () => {
  const fs = new FakeProvider("fs");
  fs.listFailure = new Error("broken");
  await expect(mountOf(fs).mount.resolve(callOf("read"))).rejects.toBe(fs.listFailure);
  fs.listFailure = new ToolError("Unavailable", "away");
  await expect(mountOf(fs).mount.resolve(callOf("read"))).rejects.toBe(fs.listFailure);
});
