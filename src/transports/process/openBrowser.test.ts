import { chmod, mkdtemp, readFile, rm, watch, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, type BrowserOptions } from "./openBrowser.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolgate-browser-"));
  for (const name of ["xdg-open", "open", "mine"]) {
    const program = join(folder, name);
    // Written elsewhere first: whoever sees the file sees all of it.
    await writeFile(
      program,
      `#!/bin/sh\necho "${name} $*" > "${folder}/draft" && mv "${folder}/draft" "${folder}/seen"\n`,
    );
    await chmod(program, 0o755);
  }
});
afterAll(() => rm(folder, { recursive: true }));

const page = new URL("https://auth.example/authorize?a=b&c=$(d)");

async function opened(env: Record<string, string>, platform: NodeJS.Platform = "linux"): Promise<string> {
  await rm(join(folder, "seen"), { force: true });
  const seen = (async () => {
    for await (const { filename } of watch(folder)) if (filename === "seen") return;
  })();
  const options: BrowserOptions = { env: { PATH: `${folder}:/usr/bin:/bin`, ...env }, platform };
  expect(await openBrowser(page, options)).toBe(true);
  await seen;
  return (await readFile(join(folder, "seen"), "utf8")).trim();
}

test.each<[string, Record<string, string>, NodeJS.Platform, string]>([
  ["the desktop's", {}, "linux", `xdg-open ${page.href}`],
  ["a Mac's", {}, "darwin", `open ${page.href}`],
  ["the person's own", { BROWSER: "mine" }, "linux", `mine ${page.href}`],
  [
    "the first of a list, with arguments",
    { BROWSER: "mine --new %s:other" },
    "linux",
    `mine --new ${page.href}`,
  ],
])("opens %s browser, without a shell between", async (_, env, platform, seen) => {
  expect(await opened(env, platform)).toBe(seen);
});

test("says where there is none", async () => {
  expect(await openBrowser(page, { env: { PATH: "/nowhere" } })).toBe(false);
});
