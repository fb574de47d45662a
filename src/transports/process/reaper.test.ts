import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listProcesses, members } from "./reaper.ts";

const entry = (
  pid: number,
  parent: number,
  more: { group?: number; session?: number; marked?: boolean } = {},
) => ({
  pid,
  parent,
  group: more.group ?? pid,
  session: more.session ?? pid,
  marked: more.marked ?? false,
});

describe("members", () => {
  test("the group, the session and the marked, and nobody else", () => {
    const all = [
      entry(10, 1),
      entry(11, 1, { group: 10 }),
      entry(12, 1, { session: 10 }),
      entry(13, 1, { marked: true }),
      entry(14, 1),
    ];
    expect(members(all, new Set([10]))).toEqual(new Set([10, 11, 12, 13]));
  });

  test("descendants, in whatever order they are listed", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([11, 12, 13, 14], { minLength: 4 }), (order) => {
        // A chain from the leader, each in a session of its own, and one outside it.
        const all = [...order.map((pid) => entry(pid, pid - 1)), entry(10, 1), entry(20, 1)];
        expect(members(all, new Set([10]))).toEqual(new Set([10, 11, 12, 13, 14]));
      }),
    );
  });

  test("never the one that asks", () => {
    expect(members([entry(process.pid, 1, { marked: true })], new Set()).size).toBe(0);
  });
});

describe("listProcesses", () => {
  test("has this process, with its parent", () => {
    expect(listProcesses("no such marker")).toContainEqual(
      expect.objectContaining({ pid: process.pid, parent: process.ppid, marked: false }),
    );
  });

  test.runIf(process.platform === "linux")("sees what is in an environment", () => {
    const marker = `PATH=${process.env["PATH"]}`;
    expect(listProcesses(marker).find(({ pid }) => pid === process.pid)?.marked).toBe(true);
  });
});
