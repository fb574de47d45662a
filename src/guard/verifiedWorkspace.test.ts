import { expect, it } from "vitest";
import { verifiedWorkspace } from "./verifiedWorkspace.ts";
import { makeScratch, workspaceReadContract } from "./workspace.contract.ts";
import { readdirSync } from "node:fs";

workspaceReadContract("verifiedWorkspace", verifiedWorkspace);

it("verifiedWorkspace refuses to write, by name", async () => {
  const scratch = makeScratch();
  const writing = verifiedWorkspace(scratch.root).writeFile("f", "new");
  await expect(writing).rejects.toMatchObject({
    code: "Unsupported",
    message: expect.stringMatching(/^Cannot write f: .*Linux/) as string,
  });
  expect(readdirSync(scratch.root)).toEqual([]);
  scratch.remove();
});
