import { Client, StreamableHTTPClientTransport, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport as TransportV1 } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { Command } from "./toolgate.ts";

/** Where a Streamable HTTP server is. */
export interface Address {
  readonly url: string;
  readonly token?: string | undefined;
}

/** `auto` asks with `server/discover` and falls back to `initialize`; `modern` is 2026-07-28 or nothing. */
export type EraChoice = "legacy" | "modern" | "auto";

export interface V2Options extends ClientOptions {
  readonly era?: EraChoice;
}

const self = { name: "toolgate-tests", version: "1.0.0" };

/** The official client of 2025, which opens with `initialize`. */
export async function connectV1Http(address: Address): Promise<ClientV1> {
  const client = new ClientV1(self);
  // Its own class is no `Transport` under exactOptionalPropertyTypes (`sessionId`).
  await client.connect(new HttpV1(new URL(address.url), authorization(address)) as TransportV1);
  return client;
}

export async function connectV1Stdio(command: Command): Promise<ClientV1> {
  const client = new ClientV1(self);
  await client.connect(new StdioV1({ ...command, stderr: "ignore" }));
  return client;
}

/** The official client of 2026, which speaks both eras. */
export async function connectV2Http(address: Address, options: V2Options = {}): Promise<Client> {
  const client = newV2(options);
  await client.connect(new StreamableHTTPClientTransport(new URL(address.url), authorization(address)));
  return client;
}

export async function connectV2Stdio(command: Command, options: V2Options = {}): Promise<Client> {
  const client = newV2(options);
  await client.connect(new StdioClientTransport({ ...command, stderr: "ignore" }));
  return client;
}

function newV2({ era = "auto", ...options }: V2Options): Client {
  const mode = era === "modern" ? { pin: "2026-07-28" } : era;
  return new Client(self, { ...options, versionNegotiation: { mode } });
}

function authorization({ token }: Address): { requestInit?: RequestInit } {
  return token === undefined ? {} : { requestInit: { headers: { Authorization: `Bearer ${token}` } } };
}
