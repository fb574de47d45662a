import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Cancellation } from "../core/cancellation.ts";
import { ToolContext } from "../core/context.ts";
import type { JsonObject } from "../core/json.ts";
import type { ToolOutput } from "../core/result.ts";
import { openBelow } from "../guard/workspace.contract.ts";
import { createFileTools, type FileToolsOptions } from "./file.ts";

const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

let root: string;
let ctx: ToolContext;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "toolgate-file-"));
  ctx = new ToolContext({ workspacePath: root });
});

afterEach(() => {
  const leaked = openBelow(root);
  rmSync(root, { recursive: true, force: true });
  assert.deepEqual(leaked, []);
});

async function run(
  name: string,
  args: JsonObject,
  { context = ctx, ...options }: FileToolsOptions & { context?: ToolContext } = {},
): Promise<ToolOutput> {
  const tool = createFileTools(options).find((each) => each.name === name)!;
  return tool.execute(args, context);
}

const file = (path: string, content: string | Buffer): void => writeFileSync(join(root, path), content);
const error = (text: string): unknown => ({ isError: true, content: [{ type: "text", text }] });

it("says what the tools can do", () => {
  const said = createFileTools().map(({ name, capabilities, definition: { annotations } }) => ({
    name,
    capabilities,
    annotations,
  }));
  expect(said).toEqual([
    {
      name: "file_read",
      capabilities: { filesystem: "read" },
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    {
      name: "file_write",
      capabilities: { filesystem: "read-write" },
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
  ]);
});

it.each(["file_read", "file_write"])("%s says how to set a workspace where there is none", async (name) => {
  const context = new ToolContext();
  await expect(run(name, { path: "f", content: "x" }, { context })).rejects.toMatchObject({
    code: "Unsupported",
    message: expect.stringContaining("set workspacePath") as string,
  });
});

it.each(["file_read", "file_write"])("%s stays inside the workspace", async (name) => {
  symlinkSync("/etc", join(root, "etc"));
  for (const path of ["../f", "/etc/hostname", "etc/hostname"])
    await expect(run(name, { path, content: "x" })).rejects.toMatchObject({ code: "PermissionDenied" });
});

describe("file_read", () => {
  const read = (path: string, options?: FileToolsOptions): Promise<ToolOutput> =>
    run("file_read", { path }, options);

  it("a text, also an empty one", async () => {
    file("f", "naïve ☃\n");
    file("empty", "");
    expect(await read("f")).toBe("naïve ☃\n");
    expect(await read("empty")).toBe("");
  });

  it("102,400 bytes whole, and one more cut", async () => {
    file("limit", "x".repeat(102_400));
    file("more", "x".repeat(102_401));
    expect(await read("limit")).toBe("x".repeat(102_400));
    expect(await read("more")).toBe(`${"x".repeat(102_400)}\n[File truncated from 102401 to 102400 bytes]`);
  });

  it("never half a character", async () => {
    file("f", "ab☃c");
    expect(await read("f", { readLimitBytes: 4 })).toBe("ab\n[File truncated from 6 to 4 bytes]");
    expect(await read("f", { readLimitBytes: 5 })).toBe("ab☃\n[File truncated from 6 to 5 bytes]");
    expect(await read("f", { readLimitBytes: 6 })).toBe("ab☃c");
  });

  it("the note of the cut on a line of its own", async () => {
    file("f", "one\ntwo\n");
    expect(await read("f", { readLimitBytes: 4 })).toBe("one\n[File truncated from 8 to 4 bytes]");
  });

  it("says of a binary file that it is one", async () => {
    file("data.bin", Buffer.from([1, 0, 2]));
    file("latin1.txt", Buffer.from("caf\xe9", "latin1"));
    expect(await read("data.bin")).toEqual(
      error("data.bin is a binary file (3 bytes): it cannot be shown as text."),
    );
    expect(await read("latin1.txt")).toMatchObject({ isError: true });
  });

  it("an image as an image, whole, also over the limit for text", async () => {
    const image = Buffer.concat([png, Buffer.alloc(200_000, 7)]);
    file("dot.txt", image);
    expect(await read("dot.txt")).toEqual({
      content: [{ type: "image", data: image.toString("base64"), mimeType: "image/png" }],
    });
  });

  it("says of an image over its limit how large it is", async () => {
    file("dot.png", png);
    expect(await read("dot.png", { imageLimitBytes: 16 })).toMatchObject({ content: [{ type: "image" }] });
    expect(await read("dot.png", { imageLimitBytes: 15 })).toEqual(
      error("dot.png is a binary file (16 bytes, image/png): images are shown up to 15 bytes."),
    );
  });

  it("a text that starts like an image is a text", async () => {
    file("f", "GIF89a is a format.");
    expect(await read("f")).toBe("GIF89a is a format.");
  });

  it("no file", async () => {
    await expect(read("notes.txt")).rejects.toMatchObject({
      code: "ExecutionFailed",
      message: "No such file: notes.txt",
    });
  });
});

// Elsewhere the guard refuses to write.
describe.skipIf(process.platform !== "linux")("file_write", () => {
  const write = (path: string, content: string, context = ctx): Promise<ToolOutput> =>
    run("file_write", { path, content }, { context });

  it("a new file in new folders, counted in bytes", async () => {
    expect(await write("a/b/f.txt", "☃\n")).toBe("Wrote 4 bytes to a/b/f.txt");
    expect(readFileSync(join(root, "a/b/f.txt"), "utf8")).toBe("☃\n");
  });

  it("the whole content anew", async () => {
    file("f", "old and long");
    expect(await write("f", "")).toBe("Wrote 0 bytes to f");
    expect(readFileSync(join(root, "f"), "utf8")).toBe("");
  });

  it("not over a folder", async () => {
    mkdirSync(join(root, "a"));
    await expect(write("a", "x")).rejects.toMatchObject({ message: "a is a folder: name a file." });
  });

  it("nothing for a call that was cancelled", async () => {
    file("f", "old");
    const cancellation = new Cancellation();
    cancellation.cancel("gone");
    await expect(write("f", "new", ctx.with({ cancellation }))).rejects.toMatchObject({ code: "Cancelled" });
    expect(readFileSync(join(root, "f"), "utf8")).toBe("old");
  });
});
