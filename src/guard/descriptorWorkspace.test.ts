import assert from "node:assert/strict";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { chmodSync, linkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ToolError } from "../core/errors.ts";
import { descriptorWorkspace } from "./descriptorWorkspace.ts";
import { whileSwapping } from "./swapper.contract.ts";
import {
  denied,
  failed,
  makeScratch,
  openBelow,
  readAll,
  workspaceReadContract,
} from "./workspace.contract.ts";
import type { Scratch } from "./workspace.contract.ts";
import type { Workspace } from "./workspace.ts";

const isRoot = process.getuid?.() === 0;

// An open folder has a path on Linux only.
describe.skipIf(!existsSync("/proc/self/fd"))("on Linux", () => {
  workspaceReadContract("descriptorWorkspace", descriptorWorkspace);

  let scratch: Scratch;
  let workspace: Workspace;
  const at = (path: string): string => join(scratch.root, path);

  beforeEach(() => {
    scratch = makeScratch();
    workspace = descriptorWorkspace(scratch.root);
    mkdirSync(at("a/b"), { recursive: true });
  });

  afterEach(() => {
    const leaked = openBelow(scratch.root);
    const outside = readdirSync(scratch.outside).map((name) => [
      name,
      readFileSync(join(scratch.outside, name), "utf8"),
    ]);
    const temporary = readdirSync(scratch.root, { recursive: true }).filter((name) =>
      String(name).endsWith(".tmp"),
    );
    scratch.remove();
    assert.deepEqual(
      { leaked, outside, temporary },
      { leaked: [], outside: [["secret.txt", "outside"]], temporary: [] },
    );
  });

  it("a root of `/` is not left or re-entered by the links of /proc", async () => {
    const everything = descriptorWorkspace("/");
    const secret = join(scratch.outside, "secret.txt");
    expect(await readAll(everything, secret)).toBe("outside");
    for (const path of [
      `/proc/self/root${secret}`,
      `/proc/${process.pid}/root${secret}`,
      `/proc/${process.pid}/exe`,
    ])
      await expect(readAll(everything, path)).rejects.toEqual(denied(/symbolic link/));
  });

  describe("writes", () => {
    const write = (path: string, content = "new"): Promise<void> => workspace.writeFile(path, content);

    it("a new file, with the mode that the umask leaves", async () => {
      const umask = process.umask();
      await write("a/new.txt", "snow ☃");
      expect(readFileSync(at("a/new.txt"), "utf8")).toBe("snow ☃");
      expect(statSync(at("a/new.txt")).mode & 0o777).toBe(0o666 & ~umask);
    });

    it("over a shorter and a longer file", async () => {
      writeFileSync(at("a/f"), "four");
      await write("a/f", "longer than four");
      expect(readFileSync(at("a/f"), "utf8")).toBe("longer than four");
      await write("a/f", "");
      expect(readFileSync(at("a/f"), "utf8")).toBe("");
    });

    it.each([0o600, 0o640, 0o755, 0o777])("and keeps mode %o", async (mode) => {
      writeFileSync(at("a/f"), "old");
      chmodSync(at("a/f"), mode);
      await write("a/f");
      expect(statSync(at("a/f")).mode & 0o7777).toBe(mode);
    });

    it("and drops set-user-id, as the system does on a write", async () => {
      writeFileSync(at("a/f"), "old");
      chmodSync(at("a/f"), 0o4755);
      await write("a/f");
      expect(statSync(at("a/f")).mode & 0o7777).toBe(0o755);
    });

    // Only root gives files away.
    it.skipIf(!isRoot)("and keeps the owner", async () => {
      writeFileSync(at("a/f"), "old");
      execFileSync("chown", ["12345:23456", at("a/f")]);
      await write("a/f");
      expect(statSync(at("a/f"))).toMatchObject({ uid: 12345, gid: 23456 });
    });

    it("a name of 255 bytes", async () => {
      const name = "n".repeat(255);
      await write(name);
      expect(readFileSync(at(name), "utf8")).toBe("new");
      await expect(write(`${name}n`)).rejects.toEqual(failed(`Cannot write ${name}n: name too long.`));
    });

    it("folders that are missing, only if told to", async () => {
      await expect(write("x/y/z.txt")).rejects.toEqual(
        failed("Cannot write x/y/z.txt: no such file or directory."),
      );
      await workspace.writeFile("x/y/z.txt", "deep", { createFolders: true });
      expect(readFileSync(at("x/y/z.txt"), "utf8")).toBe("deep");
    });

    it("many files in the same missing folders at once", async () => {
      const names = Array.from({ length: 20 }, (_, i) => `x/y/z/${i}.txt`);
      await Promise.all(names.map((name) => workspace.writeFile(name, name, { createFolders: true })));
      expect(names.map((name) => readFileSync(at(name), "utf8"))).toEqual(names);
    });

    it("one whole content when many write at once, and readers see a whole one", async () => {
      const contents = Array.from({ length: 16 }, (_, i) => String.fromCodePoint(65 + i).repeat(300_000));
      await write("a/f", contents[0]);
      const reads = contents.map(() => readAll(workspace, "a/f"));
      await Promise.all(contents.map((content) => write("a/f", content)));
      const seen = [...(await Promise.all(reads)), readFileSync(at("a/f"), "utf8")];
      expect(seen.filter((content) => !contents.includes(content))).toEqual([]);
    });

    it("not through a link to a file", async () => {
      symlinkSync(join(scratch.outside, "secret.txt"), at("out"));
      symlinkSync(join(scratch.outside, "new.txt"), at("dangling"));
      for (const path of ["out", "dangling"]) {
        await expect(write(path)).rejects.toEqual(denied(/symbolic link/));
        expect(lstatSync(at(path)).isSymbolicLink()).toBe(true);
      }
    });

    it("not through a link to a folder, also where folders are created", async () => {
      symlinkSync(scratch.outside, at("a/out"));
      symlinkSync(join(scratch.outside, "none"), at("a/dangling"));
      for (const path of ["a/out/new.txt", "a/out/x/new.txt", "a/dangling/new.txt"])
        await expect(workspace.writeFile(path, "new", { createFolders: true })).rejects.toEqual(
          denied(/symbolic link/),
        );
    });

    it("not through `..`, also behind folders that would be created", async () => {
      for (const path of ["../outside/new.txt", "x/../../outside/new.txt", join(scratch.outside, "new.txt")])
        await expect(workspace.writeFile(path, "new", { createFolders: true })).rejects.toEqual(
          denied(/holds "\.\."|outside the workspace/),
        );
      expect(readdirSync(scratch.root)).toEqual(["a"]);
    });

    it("not over a hard link", async () => {
      linkSync(join(scratch.outside, "secret.txt"), at("hard"));
      await expect(write("hard")).rejects.toEqual(denied(/has 2 hard links/));
    });

    it("not over a folder", async () => {
      await expect(write("a/b")).rejects.toEqual(failed("a/b is a folder: name a file."));
      await expect(write("new/")).rejects.toEqual(failed("new/ is a folder: name a file."));
    });

    it("not over a pipe, and does not wait for its other end", async () => {
      execFileSync("mkfifo", [at("pipe")]);
      await expect(write("pipe")).rejects.toEqual(denied(/pipe, a socket or a device/));
    });

    // Root may write everywhere.
    it.skipIf(isRoot)("not in a folder or over a file that the system protects", async () => {
      writeFileSync(at("a/b/f"), "old", { mode: 0o444 });
      await expect(write("a/b/f")).rejects.toEqual(failed("Cannot write a/b/f: permission denied."));
      chmodSync(at("a/b"), 0o555);
      const refusal = await write("a/b/new").catch((error: unknown) => error);
      chmodSync(at("a/b"), 0o755);
      expect(refusal).toEqual(failed("Cannot write a/b/new: permission denied."));
    });

    it("nothing when cancelled before", async () => {
      const options = { createFolders: true, signal: AbortSignal.abort() };
      await expect(workspace.writeFile("x/f", "new", options)).rejects.toMatchObject({ code: "Cancelled" });
      expect(readdirSync(scratch.root)).toEqual(["a"]);
    });

    /** Runs `meanwhile` when the new content is on the disk and has not yet taken its place. */
    const interrupted = (meanwhile: () => boolean): AbortSignal =>
      Object.defineProperty(new AbortController().signal, "aborted", {
        get: () => readdirSync(at("a/b")).some((name) => name.endsWith(".tmp")) && meanwhile(),
      });

    it("nothing when cancelled meanwhile", async () => {
      writeFileSync(at("a/b/f"), "old");
      const signal = interrupted(() => true);
      await expect(workspace.writeFile("a/b/f", "new", { signal })).rejects.toMatchObject({
        code: "Cancelled",
      });
      expect(readdirSync(at("a/b"))).toEqual(["f"]);
      expect(readFileSync(at("a/b/f"), "utf8")).toBe("old");
    });

    it("nothing when a folder takes the name meanwhile", async () => {
      const signal = interrupted(() => {
        mkdirSync(at("a/b/f"));
        return false;
      });
      await expect(workspace.writeFile("a/b/f", "new", { signal })).rejects.toEqual(
        failed("a/b/f is a folder: name a file."),
      );
      expect(readdirSync(at("a/b"))).toEqual(["f"]);
    });

    it("the name itself when a link takes it meanwhile", async () => {
      const signal = interrupted(() => {
        symlinkSync(join(scratch.outside, "secret.txt"), at("a/b/f"));
        return false;
      });
      await workspace.writeFile("a/b/f", "new", { signal });
      expect(lstatSync(at("a/b/f")).isFile()).toBe(true);
      expect(readFileSync(at("a/b/f"), "utf8")).toBe("new");
    });
  });

  describe("while links are swapped in", () => {
    beforeEach(() => writeFileSync(at("a/b/secret.txt"), "inside"));

    const swaps = [
      { what: "a folder", name: "a/b", target: "" },
      { what: "the file", name: "a/b/secret.txt", target: "secret.txt" },
    ];

    interface Race {
      readonly least: number;
      readonly most: number;
      /** Rounds go on until each of these was seen: without them there was no race. */
      readonly both: readonly string[];
      /** Resolves with what it got; a `ToolError` counts by its code. */
      round(): Promise<string>;
    }

    async function outcomes({ least, most, both, round }: Race): Promise<string[]> {
      const seen = new Set<string>();
      const isOpen = (i: number): boolean => i < least || both.some((outcome) => !seen.has(outcome));
      for (let i = 0; i < most && isOpen(i); i++)
        seen.add(
          await round().catch((error: unknown) => (error instanceof ToolError ? error.code : String(error))),
        );
      // The moment when the name is not there at all need not be met.
      return [...seen].filter((outcome) => outcome !== "ExecutionFailed").toSorted();
    }

    it.each(swaps)("for $what, 2,000 opens read nothing outside", async ({ name, target }) => {
      const both = ["PermissionDenied", "inside"];
      const round = (): Promise<string> => readAll(workspace, "a/b/secret.txt");
      await whileSwapping({ name: at(name), target: join(scratch.outside, target) }, async () => {
        expect(await outcomes({ least: 2_000, most: 40_000, both, round })).toEqual(both);
      });
    });

    it.each(swaps)("for $what, 500 writes touch nothing outside", async ({ name, target }) => {
      const both = ["PermissionDenied", "written"];
      const round = (): Promise<string> =>
        workspace.writeFile("a/b/secret.txt", "mine").then(() => "written");
      await whileSwapping({ name: at(name), target: join(scratch.outside, target) }, async () => {
        expect(await outcomes({ least: 500, most: 10_000, both, round })).toEqual(both);
      });
    });
  });
});
