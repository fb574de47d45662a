import { resolve } from "node:path";
import { parseAddress } from "../gateway/configListen.ts";
import type { ListenAddress, ListenConfig } from "../gateway/types.ts";
import { UsageError } from "./flags.ts";

/** The flags of `serve` that name a door, or are about one. */
export const doorFlags = {
  stdio: { type: "boolean" },
  http: { type: "string" },
  sse: { type: "boolean" },
  tcp: { type: "string" },
  unix: { type: "string" },
  ws: { type: "string" },
  ide: { type: "boolean" },
  "no-auth": { type: "boolean" },
} as const;

export type DoorFlags = {
  readonly [Name in keyof typeof doorFlags]?:
    | ((typeof doorFlags)[Name]["type"] extends "boolean" ? boolean : string)
    | undefined;
};

/** What is to be opened; nothing else is. */
export type ChosenDoors = Pick<ListenConfig, "http" | "tcp" | "ws" | "unix" | "stdio">;

/** What the flags name; undefined where they name nothing. Throws `UsageError` for an address that cannot be used. */
export function namedDoors(flags: DoorFlags, cwd: string): ChosenDoors | undefined {
  const http = readAddress("http", flags);
  const tcp = readAddress("tcp", flags);
  const ws = readAddress("ws", flags);
  const { unix, stdio = false } = flags;
  if (unix === "") throw new UsageError("--unix needs the path of a socket file.");
  if (!http && !tcp && !ws && unix === undefined && !stdio) return undefined;
  return {
    ...(http && { http }),
    ...(tcp && { tcp }),
    ...(ws && { ws }),
    ...(unix !== undefined && { unix: resolve(cwd, unix) }),
    stdio,
  };
}

function readAddress(name: "http" | "tcp" | "ws", flags: DoorFlags): ListenAddress | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  const address = parseAddress(text);
  if ("message" in address) throw new UsageError(`--${name} ${text}: ${address.message}`);
  return address;
}

/** Throws `UsageError` if nothing is to be opened, or a flag is about a door that is not. */
export function checkDoors(doors: ChosenDoors, flags: DoorFlags): void {
  const { http, tcp, ws, unix, stdio } = doors;
  if (!http && !tcp && !ws && unix === undefined && !stdio)
    throw new UsageError(
      "There is nothing to listen on: the configuration says so. Give --http PORT or --stdio.",
    );
  if (flags["no-auth"] && !http && !tcp && !ws)
    throw new UsageError(
      "--no-auth is about HTTP, TCP and WebSocket, and none of them is served. Remove it, or add --http PORT.",
    );
  if (flags.sse && !http)
    throw new UsageError("--sse is about HTTP, and no HTTP is served. Remove it, or add --http PORT.");
  if (flags.ide && !ws)
    throw new UsageError(
      "--ide announces the WebSocket door, and there is none. Remove it, or add --ws PORT.",
    );
}
