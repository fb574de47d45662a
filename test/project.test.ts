import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./support/paths.ts";

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly optionalDependencies?: Record<string, string>;
}

const read = (name: string): Promise<string> => readFile(join(root, name), "utf8");
const manifest = JSON.parse(await read("package.json")) as Record<
  "dependencies" | "devDependencies",
  Record<string, string>
>;
const lock = JSON.parse(await read("package-lock.json")) as { packages: Record<string, Locked> };
const locked = Object.entries(lock.packages).filter(([path]) => path !== "");

test("dependencies have exact versions, and those are locked", () => {
  for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
    expect(lock.packages[`node_modules/${name}`]?.version, name).toBe(version);
  }
});

test("the lock file names no registry and no path of one machine", () => {
  expect(locked.filter(([, entry]) => entry.resolved ?? entry.link)).toEqual([]);
});

// `npm ci` refuses the lock file otherwise. It happens where the registry lacks some platforms of a version.
test("the lock file has every platform of the packages that are built for each", () => {
  const missing = locked.flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) =>
        !(`node_modules/${name}` in lock.packages) && !(`${path}/node_modules/${name}` in lock.packages),
    ),
  );
  expect(missing).toEqual([]);
});
