import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openWorkspace } from "./openWorkspace.ts";
import { makeScratch } from "./workspace.contract.ts";

const code = (code: string): unknown => expect.objectContaining({ code });

it.skipIf(!existsSync("/proc/self/fd"))("writes on Linux, below a root in any spelling", async () => {
  const { root, remove } = makeScratch();
  await openWorkspace(`${root}/../workspace//`, "linux").writeFile("f", "new");
  await openWorkspace(`${root}/`, "linux").writeFile(join(root, "g"), "new");
  expect(["f", "g"].map((name) => readFileSync(join(root, name), "utf8"))).toEqual(["new", "new"]);
  remove();
});

it("only reads on macOS", async () => {
  const { root, outside, remove } = makeScratch();
  const file = await openWorkspace(outside, "darwin").openRead("secret.txt");
  expect(await file.readFile("utf8")).toBe("outside");
  await file.close();
  await expect(openWorkspace(root, "darwin").writeFile("f", "new")).rejects.toEqual(code("Unsupported"));
  remove();
});

it("does nothing on Windows", () => {
  expect(() => openWorkspace("C:\\work", "win32")).toThrow(expect.objectContaining({ code: "Unsupported" }));
});

it("wants an absolute root", () => {
  expect(() => openWorkspace("work")).toThrow("The workspace work is not an absolute path: set one that is.");
});

it("needs the folder only when something is opened", async () => {
  const { root, remove } = makeScratch();
  rmSync(root, { recursive: true });
  await expect(openWorkspace(root).openRead("f")).rejects.toThrow(/cannot be opened \(ENOENT\)/);
  remove();
});
