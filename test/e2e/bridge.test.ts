import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cells, checksOf, openBridge, runCheck, type Bridge } from "../conformance/bridge.mjs";

// What `npm run conformance` shows as a table: real clients of both eras, in front of upstreams of both, through one gateway.

let folder: string;
let bridge: Bridge;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolgate-bridge-"));
  bridge = await openBridge(folder);
}, 60_000);

afterAll(async () => {
  await bridge?.stop();
  await rm(folder, { recursive: true, force: true });
});

for (const cell of cells) {
  const { client, upstream, transport } = cell;
  describe(`a ${client} client, a ${upstream} upstream over ${transport}`, () => {
    test.for([...checksOf(cell)])("$name", async (check) => {
      await expect(runCheck(bridge, cell, check)).resolves.toBeUndefined();
    });
  });
}
