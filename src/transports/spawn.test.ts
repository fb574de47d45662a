import { execFile, spawn as spawnProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from "vitest";
import { createNamespaceKeeper } from "./process/namespace.ts";
import { listProcesses } from "./process/reaper.ts";
import { createSpawn, type Spawner, type TreeLevel } from "./spawn.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const env = { PATH: process.env["PATH"] ?? "" };
const waiting = { timeout: 15_000, interval: 20 };

const noNamespace = await createNamespaceKeeper().then(
  () => undefined,
  (error: Error) => error.message,
);
const levels: TreeLevel[] = ["reaper", ...(noNamespace === undefined ? ["pid-namespace" as const] : [])];

/** A number of seconds to sleep that nobody else sleeps: it marks the processes of one test. */
const newTag = (): string => String(randomInt(1_000_000, 1_000_000_000));

async function countTagged(tag: string): Promise<number> {
  const { stdout } = await run("ps", ["-A", "-ww", "-o", "stat=,args="]);
  // Not the shells that have it in their script.
  return stdout.split("\n").filter((row) => row.replace(/^[^Z]\S*\s+/, "") === `sleep ${tag}`).length;
}

/** A child, a grandchild and one in a session of its own, which all ignore SIGTERM. */
const stubbornTree = (tag: string): string =>
  `trap '' TERM; setsid sleep ${tag} & sh -c 'sleep ${tag}; true' & sleep ${tag}`;

test.runIf(noNamespace !== undefined)(
  "an asked-for level that does not work is refused with the reason",
  async () => {
    await expect(createSpawn({ level: "pid-namespace" })).rejects.toThrow(noNamespace);
  },
);

describe.each(levels)("createSpawn, %s", (level) => {
  let spawner: Spawner;
  beforeEach(async () => {
    spawner = await createSpawn({ level });
  });
  afterEach(() => spawner.close());

  const sh = (script: string) => spawner.spawn({ command: "sh", args: ["-c", script], env });

  test("says its level", () => {
    expect(spawner.level).toBe(level);
    expect(spawner.explain).not.toBe("");
  });

  test("bytes pass both ways and the exit status comes back", async () => {
    const child = sh("cat; echo problem >&2; exit 7");
    child.stdin.end("hello");
    const [out, error] = await Promise.all([child.stdout.toArray(), child.stderr.toArray()]);
    expect([out.join(""), error.join("")]).toEqual(["hello", "problem\n"]);
    expect(await child.exited).toEqual({ code: 7, signal: null });
  });

  test("the child gets its environment and directory, and nothing of ours", async () => {
    const child = spawner.spawn({
      command: "sh",
      args: ["-c", "pwd; env"],
      env: { ...env, A: "1" },
      cwd: "/",
    });
    const [directory, ...variables] = (await child.stdout.toArray()).join("").trim().split("\n");
    expect(directory).toBe("/");
    const names = variables
      .map((line) => line.split("=")[0])
      .filter((name) => !/^(PWD|OLDPWD|SHLVL|_)$/.test(name ?? ""));
    expect(new Set(names)).toEqual(new Set(["A", "PATH", ...(level === "reaper" ? ["TOOLGATE_TREE"] : [])]));
  });

  test("stop lets a child go that ends with its input", async () => {
    const child = sh("cat; exit 3");
    await Promise.all([child.stop(), child.stop()]);
    expect(await child.exited).toEqual({ code: 3, signal: null });
  });

  test("stop sends SIGTERM to one that does not", async () => {
    const child = sh("trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done");
    await once(child.stdout, "data");
    await child.stop(1000);
    expect(await child.exited).toEqual({ code: 5, signal: null });
  });

  test("stop kills a tree that ignores everything, and resolves when it is gone", async () => {
    const tag = newTag();
    const child = sh(stubbornTree(tag));
    await expect.poll(() => countTagged(tag), waiting).toBe(3);
    await child.stop(10);
    expect(await countTagged(tag)).toBe(0);
  });

  test("what a child leaves behind is gone when it has exited", async () => {
    const tag = newTag();
    const child = sh(`setsid sleep ${tag} & sleep ${tag} & cat`);
    await expect.poll(() => countTagged(tag), waiting).toBe(2);
    child.stdin.end();
    await child.exited;
    expect(await countTagged(tag)).toBe(0);
  });

  test("stop at once ends a child that has hardly started", async () => {
    const tag = newTag();
    const child = sh(stubbornTree(tag));
    await child.stop(0);
    await expect.poll(() => countTagged(tag), waiting).toBe(0);
  });

  test.each([
    ["no-such-command", {}, 'Cannot start "no-such-command": command not found. Check "command"'],
    [
      "sh",
      { cwd: "/no/such/place" },
      'Cannot start "sh": there is no directory "/no/such/place". Check "cwd"',
    ],
    ["sh", { args: ["\0"] }, 'Cannot start "sh": '],
  ])("%s %j does not start, and says why", async (command, more, why) => {
    const child = spawner.spawn({ command, args: [], env, ...more });
    expect(child.pid).toBeUndefined();
    child.stdin.write("nobody reads this");
    await expect(child.exited).rejects.toThrow(why);
    expect(await child.stdout.toArray()).toEqual([]);
    await child.stop();
  });

  test("close stops what runs and starts nothing more", async () => {
    const child = sh("cat");
    await spawner.close();
    expect(await child.exited).toEqual({ code: 0, signal: null });
    await expect(sh("true").exited).rejects.toThrow("Toolgate is stopping");
  });
});

describe("the reaper", () => {
  const reapers = async (): Promise<number[]> => {
    const { stdout } = await run("ps", ["-A", "-ww", "-o", "pid=,ppid=,args="]);
    const rows = stdout.split("\n").map((row) => row.trim().split(/\s+/));
    return rows
      .filter(([, parent, name]) => Number(parent) === process.pid && name === "toolgate-reaper")
      .map(([pid]) => Number(pid));
  };

  test("is replaced when it dies, and still ends what was there before", async () => {
    const spawner = await createSpawn({ level: "reaper" });
    const tag = newTag();
    const child = spawner.spawn({ command: "sh", args: ["-c", stubbornTree(tag)], env });
    await expect.poll(() => countTagged(tag), waiting).toBe(3);
    const [first = 0] = await reapers();
    process.kill(first, "SIGKILL");
    await child.stop(10);
    expect(await countTagged(tag)).toBe(0);
    expect(await reapers()).not.toContain(first);
    await spawner.close();
    expect(await reapers()).toEqual([]);
  });

  test("finds the trees of a Toolgate inside a tree", async () => {
    const outer = await createSpawn({ level: "reaper" });
    const child = outer.spawn({ command: "sh", args: ["-c", "echo $TOOLGATE_TREE; cat"], env });
    const [value] = (await once(child.stdout, "data")) as [Buffer];
    vi.stubEnv("TOOLGATE_TREE", value.toString().trim());
    const inner = await createSpawn({ level: "reaper" });
    const nested = inner.spawn({ command: "cat", args: [], env });
    vi.unstubAllEnvs();
    const marked = listProcesses(value.toString().trim()).filter((one) => one.marked);
    expect(marked.map(({ pid }) => pid)).toEqual(expect.arrayContaining([child.pid, nested.pid]));
    await inner.close();
    await outer.close();
  });
});

describe.each(levels)("the end of the host, %s", (level) => {
  let build = "";
  beforeAll(async () => {
    build = await mkdtemp(join(tmpdir(), "toolgate-spawn-"));
    await compile(build);
  });
  afterAll(() => rm(build, { recursive: true }));

  /** Runs a program that starts a tree by `createSpawn`, and resolves when all of that runs. */
  async function startHost(tag: string) {
    const program = `
      import { createSpawn } from "./spawn.js";
      const { spawn } = await createSpawn({ level: "${level}" });
      const child = spawn({ command: "sh", args: ["-c", process.argv[2]], env: { PATH: process.env.PATH } });
      process.stdin.on("data", () => process.exit());
    `;
    const file = join(build, "transports", "host.js");
    await writeFile(file, program);
    const host = spawnProcess(process.execPath, [file, stubbornTree(tag)], {
      stdio: ["pipe", "inherit", "inherit"],
    });
    onTestFinished(() => void host.kill("SIGKILL"));
    await expect.poll(() => countTagged(tag), waiting).toBe(3);
    return host;
  }

  test("SIGKILL takes the whole tree with it", async () => {
    const tag = newTag();
    const host = await startHost(tag);
    host.kill("SIGKILL");
    await expect.poll(() => countTagged(tag), waiting).toBe(0);
  });

  test("so does a plain exit", async () => {
    const tag = newTag();
    const host = await startHost(tag);
    host.stdin.write("exit");
    await once(host, "exit");
    await expect.poll(() => countTagged(tag), waiting).toBe(0);
  });
});

/** Node 20 runs no TypeScript: the host runs what the compiler makes of the module and what it imports. */
async function compile(outDir: string): Promise<void> {
  const config = {
    extends: join(root, "tsconfig.build.json"),
    compilerOptions: {
      rootDir: join(root, "src"),
      outDir,
      declaration: false,
      typeRoots: [join(root, "node_modules/@types")],
    },
    files: [join(root, "src/transports/spawn.ts")],
    include: [],
  };
  const configFile = join(outDir, "tsconfig.json");
  await writeFile(configFile, JSON.stringify(config));
  await writeFile(join(outDir, "package.json"), '{ "type": "module" }');
  const compiler = join(dirname(fileURLToPath(import.meta.resolve("typescript/package.json"))), "bin/tsc");
  await run(process.execPath, [compiler, "-p", configFile]);
}
