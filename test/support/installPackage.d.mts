import type { Tool } from "./tools.ts";

/** One file of a package that is no development dependency: too large, or not for every system. */
export interface Package {
  readonly name: string;
  readonly version: string;
  /** Relative to the package's folder. */
  readonly entry: string;
}

/** Puts a package into the cache in `node_modules`, once. Never rejects. */
export function installPackage(wanted: Package): Promise<Tool>;
