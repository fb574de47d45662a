import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { isRunning, processTree, waitUntil } from "./processes.ts";

test.runIf(process.platform === "linux")("sees a process, its descendants, and their end", async () => {
  const child = spawn("sh", ["-c", "sleep 60 & echo started; wait"], { stdio: ["ignore", "pipe", "ignore"] });
  try {
    await once(child.stdout, "data");
    const tree = processTree(child.pid ?? 0);
    expect(tree).toHaveLength(2);
    expect(tree[0]).toBe(child.pid);
    expect(processTree(process.pid)).toEqual(expect.arrayContaining(tree));
    for (const pid of tree) process.kill(pid, "SIGKILL");
    await waitUntil(() => !tree.some(isRunning), "both processes are gone");
    expect(processTree(child.pid ?? 0)).toEqual([]);
  } finally {
    child.kill("SIGKILL");
  }
});

test("says what it waited for", async () => {
  await expect(waitUntil(() => false, "pigs fly", 30)).rejects.toThrow("After 30 ms still not: pigs fly");
});
