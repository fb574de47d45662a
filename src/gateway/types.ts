import type { Log } from "../core/effects.ts";
import type { Caller, Middleware } from "../core/operation.ts";
import type { ToolProvider } from "../core/provider.ts";
import type { OAuthClientConfig } from "../mcp/client/oauthGrant.ts";
import type { DialectName } from "../mcp/server/dialect.ts";
import type { Endpoint } from "../wire/endpoint.ts";

/** The namespace of the built-in tools. */
export const builtinNamespace = "builtin";

/** A whole configuration: variables are replaced, paths are absolute, defaults are filled in. */
export interface GatewayConfig {
  /** In configuration order. */
  readonly upstreams: readonly UpstreamConfig[];
  /** Absent: no built-in tools. */
  readonly tools?: BuiltinToolsConfig;
  readonly listen: ListenConfig;
  /** Who may come in over the network. Empty: whoever has the token that the first start made. */
  readonly principals: readonly PrincipalConfig[];
  readonly limits: Limits;
  /** What clients tell their model about this server. */
  readonly instructions?: string;
}

/** What every entry that can be started has. */
export interface UpstreamBase {
  /** The key as the configuration has it. */
  readonly key: string;
  readonly namespace: string;
  /** Milliseconds for one call; replaces `limits.callTimeoutMs`. */
  readonly timeoutMs?: number;
  /** Milliseconds until the first answer must be there. */
  readonly startTimeoutMs?: number;
  /** Check arguments here as well, against the schema that the upstream declares. */
  readonly validateArguments: boolean;
  /** `shared`: one connection for all principals. `principal`: each has one of its own. */
  readonly isolation: Isolation;
}

export type Isolation = "shared" | "principal";

export interface StdioUpstreamConfig extends UpstreamBase {
  readonly kind: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  /** What the entry names; `upstreamEnv` adds what every child gets. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface HttpUpstreamConfig extends UpstreamBase {
  readonly kind: "http";
  /** `http:` or `https:`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** True: it speaks HTTP+SSE (specification 2024-11-05, basic/transports). Absent: that is found out. */
  readonly sse?: boolean;
  /** How this client is known where the server wants OAuth. Absent: it introduces itself. */
  readonly oauth?: OAuthClientConfig;
}

/** A server that is reached by a connection which stays. */
export interface SocketUpstreamConfig extends UpstreamBase {
  readonly kind: "socket";
  readonly target: SocketTarget;
}

export type SocketTarget =
  | { readonly scheme: "tcp"; readonly host: string; readonly port: number; readonly token?: string }
  | { readonly scheme: "unix"; readonly path: string }
  | {
      readonly scheme: "ws";
      /** `ws:` or `wss:`. */
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };

/** An entry that this configuration cannot have started: a variable is not set. */
export interface BrokenUpstreamConfig {
  readonly kind: "broken";
  readonly key: string;
  readonly namespace: string;
  /** Why, and what to do, for a person. */
  readonly reason: string;
}

export type UpstreamConfig =
  | StdioUpstreamConfig
  | HttpUpstreamConfig
  | SocketUpstreamConfig
  | BrokenUpstreamConfig;

/** At least one tool is there. */
export interface BuiltinToolsConfig {
  /** Absolute. */
  readonly workspace: string;
  readonly file?: { readonly readLimitBytes: number };
}

/** Of a door. */
export interface ListenAddress {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

export interface ListenConfig {
  /** Absent: no HTTP. */
  readonly http?: ListenAddress;
  readonly tcp?: ListenAddress;
  readonly ws?: ListenAddress;
  /** Of a socket file, absolute. */
  readonly unix?: string;
  readonly stdio: boolean;
  /** Also the deprecated HTTP+SSE, below each HTTP endpoint. */
  readonly sse: boolean;
  readonly dialect: DialectName;
  /** More values of `Host` than the loopback names: a name for any port, or with one port. */
  readonly allowedHosts: readonly string[];
  /** More values of `Origin` than the server's own. */
  readonly allowedOrigins: readonly string[];
}

export interface PrincipalConfig {
  readonly name: string;
  readonly token: string;
}

export interface Limits {
  /** One message from a client. */
  readonly messageBytes: number;
  /** One message from an upstream. */
  readonly upstreamMessageBytes: number;
  /** Calls of one principal that run at once, and those that wait for their turn. */
  readonly callsRunning: number;
  readonly callsWaiting: number;
  /** One call; progress from an upstream starts it again, up to the maximum. */
  readonly callTimeoutMs: number;
  readonly callTimeoutMaxMs: number;
  /** A larger result becomes an error. */
  readonly resultBytes: number;
  /** Longer text is cut. Absent: text is passed on whole. */
  readonly resultTextBytes?: number;
}

/** `failed` is tried again, unless the configuration itself is why; `closed` is for good. */
export type UpstreamState = "starting" | "ready" | "failed" | "closed";

export interface UpstreamStatus {
  readonly namespace: string;
  readonly state: UpstreamState;
  readonly era?: "legacy" | "modern";
  readonly protocolVersion?: string;
  /** How many it lists. */
  readonly tools?: number;
  /** Why it failed, for a person. */
  readonly error?: string;
  readonly restarts: number;
}

/** How well child processes are kept from outliving their gateway. */
export interface Containment {
  readonly level: string;
  /** One sentence for a person. */
  readonly explain: string;
}

/** All parts wired together, with no door open yet. */
export interface Gateway {
  /** Every call, whichever door it came in by. */
  readonly caller: Caller;
  /** What is served: everything for no namespace, else one provider under its own names. Undefined: no such namespace. */
  endpoint(namespace?: string): Endpoint | undefined;
  /** Starts all upstreams at once. Never throws; how each went is its status. */
  start(): void;
  /** Resolves when every upstream is ready or has failed. */
  settled(): Promise<void>;
  /** In configuration order. */
  upstreams(): readonly UpstreamStatus[];
  /** Calls back at every change of a status. Returns how to stop. */
  onUpstream(listener: (status: UpstreamStatus) => void): () => void;
  readonly containment: Containment;
  /**
   * Ends streams of notifications in order, and calls that wait for answers. The doors are closed after it, and then
   * the gateway. Safe to call twice.
   */
  stop(): Promise<void>;
  /** Ends every upstream. Safe to call twice. */
  close(): Promise<void>;
}

export interface GatewayOptions {
  /** A line about one upstream says which in `fields.upstream`. */
  readonly log: Log;
  /** More providers, mounted after the built-in tools and before the upstreams. */
  readonly providers?: readonly ToolProvider[];
  /** The program's own guards, outermost; see `hooks`. */
  readonly middleware?: readonly Middleware[];
}

export type CreateGateway = (config: GatewayConfig, options: GatewayOptions) => Promise<Gateway>;
