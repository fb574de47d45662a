import type { Section } from "./results.mjs";

type Era = "legacy" | "modern";

/** Who speaks which era on the two sides of the gateway, and how it reaches the upstream. */
export interface BridgeCell {
  readonly client: Era;
  readonly upstream: Era;
  readonly transport: "stdio" | "http";
}

/** A running gateway with its upstreams. */
export interface Bridge {
  stop(): Promise<void>;
}

export interface Check {
  readonly name: string;
}

export const cells: readonly BridgeCell[];
export function checksOf(cell: BridgeCell): readonly Check[];
export function openBridge(folder: string): Promise<Bridge>;
export function runCheck(bridge: Bridge, cell: BridgeCell, check: Check): Promise<void>;
export function bridgeSections(folder: string): Promise<readonly Section[]>;
