import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { linkSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Workspace } from "./workspace.ts";

/** A folder with a `workspace` and an `outside` in it, for one test. */
export interface Scratch {
  readonly root: string;
  readonly outside: string;
  remove(): void;
}

export function makeScratch(): Scratch {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "toolgate-guard-")));
  const [root, outside] = [join(base, "workspace"), join(base, "outside")];
  for (const folder of [root, outside]) mkdirSync(folder);
  writeFileSync(join(outside, "secret.txt"), "outside");
  return { root, outside, remove: () => rmSync(base, { recursive: true, force: true }) };
}

/** What this process holds open below `folder`. Empty where the system does not tell (no /proc). */
export function openBelow(folder: string): string[] {
  if (!existsSync("/proc/self/fd")) return [];
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    const link = join("/proc/self/fd", fd);
    try {
      const target = readlinkSync(link);
      return target.startsWith(folder) ? [target] : [];
    } catch {
      return []; // The descriptor that listed the folder has gone.
    }
  });
}

export async function readAll(workspace: Workspace, path: string): Promise<string> {
  const file = await workspace.openRead(path);
  try {
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

export const denied = (message: RegExp): unknown =>
  expect.objectContaining({ code: "PermissionDenied", message: expect.stringMatching(message) as string });

export const failed = (message: string): unknown =>
  expect.objectContaining({ code: "ExecutionFailed", message });

/** Reading, as every `Workspace` must do it. */
export function workspaceReadContract(name: string, open: (root: string) => Workspace): void {
  describe(`${name} reads`, () => {
    let scratch: Scratch;
    let workspace: Workspace;
    const at = (path: string): string => join(scratch.root, path);
    const read = (path: string): Promise<string> => readAll(workspace, path);

    beforeEach(() => {
      scratch = makeScratch();
      workspace = open(scratch.root);
      mkdirSync(at("a/b"), { recursive: true });
      writeFileSync(at("a/b/notes.txt"), "inside");
    });

    afterEach(() => {
      const leaked = openBelow(scratch.root);
      scratch.remove();
      assert.deepEqual(leaked, []);
    });

    it.each(["a/b/notes.txt", "./a//b/./notes.txt"])("%s", async (path) => {
      expect(await read(path)).toBe("inside");
    });

    it("an absolute path inside", async () => {
      expect(await read(at("a/b/notes.txt"))).toBe("inside");
    });

    it("an empty file", async () => {
      writeFileSync(at("empty"), "");
      expect(await read("empty")).toBe("");
    });

    it.each(["two\nlines.txt", "back\\slash", " ", "...", "-rf", "naïve ☃.txt"])(
      "the name %j",
      async (path) => {
        writeFileSync(at(path), "odd");
        expect(await read(path)).toBe("odd");
      },
    );

    it("below a root that is reached by a link", async () => {
      symlinkSync(scratch.root, join(scratch.outside, "way"));
      expect(await readAll(open(join(scratch.outside, "way")), "a/b/notes.txt")).toBe("inside");
    });

    it("a file that is removed after it was opened", async () => {
      const file = await workspace.openRead("a/b/notes.txt");
      unlinkSync(at("a/b/notes.txt"));
      expect(await file.readFile("utf8")).toBe("inside");
      await file.close();
    });

    it.each(["none.txt", "none/x.txt", "a/b/c/d"])("no file at %s", async (path) => {
      await expect(read(path)).rejects.toEqual(failed(`No such file: ${path}`));
    });

    it("quotes a name that would forge a line of the log", async () => {
      await expect(read("a\nb")).rejects.toEqual(failed('No such file: "a\\nb"'));
    });

    it("no file below a file", async () => {
      await expect(read("a/b/notes.txt/x")).rejects.toEqual(
        failed("Cannot read a/b/notes.txt/x: not a directory."),
      );
    });

    it.each(["a", "a/b", "a/b/", "a/b/.", "."])("no folder: %s", async (path) => {
      await expect(read(path)).rejects.toEqual(failed(`${path} is a folder: name a file.`));
    });

    it("not through `..`", async () => {
      await expect(read("../outside/secret.txt")).rejects.toEqual(denied(/holds "\.\."/));
      await expect(read("a/../../outside/secret.txt")).rejects.toEqual(denied(/holds "\.\."/));
      await expect(read("a/../a/b/notes.txt")).rejects.toEqual(denied(/holds "\.\."/));
    });

    it("not an absolute path outside", async () => {
      await expect(read(join(scratch.outside, "secret.txt"))).rejects.toEqual(
        denied(/outside the workspace/),
      );
      await expect(read(`${scratch.root}-too/x`)).rejects.toEqual(denied(/outside the workspace/));
      await expect(read("/proc/self/root/etc/passwd")).rejects.toEqual(denied(/outside the workspace/));
    });

    it("not the same file by way of /proc/self/root", async () => {
      await expect(read(`/proc/self/root${at("a/b/notes.txt")}`)).rejects.toEqual(
        denied(/outside the workspace/),
      );
    });

    it("not a link as the last name, wherever it leads", async () => {
      symlinkSync(join(scratch.outside, "secret.txt"), at("out"));
      symlinkSync("a/b/notes.txt", at("in"));
      symlinkSync("/dev/zero", at("zero"));
      for (const path of ["out", "in", "zero"])
        await expect(read(path)).rejects.toEqual(denied(/symbolic link/));
    });

    it("not through a link on the way, wherever it leads", async () => {
      symlinkSync(scratch.outside, at("a/out"));
      symlinkSync("b", at("a/in"));
      symlinkSync("/proc/self/root", at("a/proc"));
      for (const path of ["a/out/secret.txt", "a/in/notes.txt", `a/proc${at("a/b/notes.txt")}`])
        await expect(read(path)).rejects.toEqual(denied(/symbolic link/));
    });

    it("not a hard link", async () => {
      linkSync(join(scratch.outside, "secret.txt"), at("hard"));
      await expect(read("hard")).rejects.toEqual(denied(/has 2 hard links/));
    });

    it("not a pipe, and does not wait for its other end", async () => {
      execFileSync("mkfifo", [at("pipe")]);
      await expect(read("pipe")).rejects.toEqual(denied(/pipe, a socket or a device/));
    });

    it("not a socket", async () => {
      const server = createServer().listen(at("socket"));
      await new Promise((resolve) => server.once("listening", resolve));
      await expect(read("socket")).rejects.toEqual(denied(/pipe, a socket or a device/));
      await new Promise((resolve) => server.close(resolve));
    });

    // Only root makes devices.
    it.skipIf(process.getuid?.() !== 0 || process.platform !== "linux")("not a device", async () => {
      execFileSync("mknod", [at("zero"), "c", "1", "5"]);
      await expect(read("zero")).rejects.toEqual(denied(/pipe, a socket or a device/));
    });

    it("not a path with NUL, an empty or an endless one", async () => {
      await expect(read("a/b/notes.txt\0.png")).rejects.toEqual(denied(/NUL/));
      await expect(read("")).rejects.toEqual(denied(/The path is empty/));
      await expect(read("a/".repeat(5000))).rejects.toEqual(denied(/longer than 4096 bytes/));
    });

    it("nothing from a workspace that is not there", async () => {
      await expect(readAll(open(at("gone")), "x")).rejects.toEqual(
        failed(
          `The workspace ${at("gone")} cannot be opened (ENOENT): create the folder, or set another as workspace.`,
        ),
      );
    });
  });
}
