import { PassThrough, Readable, Writable } from "node:stream";
import type { Io, Output } from "../../src/cli/io.ts";
import { run } from "../../src/cli/run.ts";
import type { ToolContext } from "../../src/core/context.ts";
import type { Operation, Outcome } from "../../src/core/operation.ts";
import type { ToolDefinition } from "../../src/core/tool.ts";
import type { Doors, DoorsOptions } from "../../src/gateway/doors.ts";
import type { SignIn } from "../../src/gateway/oauth.ts";
import type { Gateway, GatewayConfig, GatewayOptions, UpstreamStatus } from "../../src/gateway/types.ts";

/** Keeps what is written, and tells when something wanted has been. */
class Screen extends Writable implements Output {
  text = "";
  readonly isTTY: boolean;
  readonly columns: number;
  readonly #waiting: { wanted: string; resolve: () => void }[] = [];

  constructor(isTTY: boolean, columns: number) {
    super();
    this.isTTY = isTTY;
    this.columns = columns;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    for (const { wanted, resolve } of this.#waiting) if (this.text.includes(wanted)) resolve();
    done();
  }

  shows(wanted: string): Promise<void> {
    if (this.text.includes(wanted)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ wanted, resolve }));
  }
}

export interface FakeIoOptions {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly stdin?: string;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly nodeVersion?: string;
  readonly tools?: readonly ToolDefinition[];
  readonly upstreams?: readonly UpstreamStatus[];
  /** Rejects the creation of the gateway. */
  readonly broken?: Error;
  /** Rejects the opening of the doors. */
  readonly closedDoors?: Error;
  readonly signIn?: SignIn;
  call?(operation: Operation, ctx: ToolContext): Promise<Outcome>;
}

/** A command line in memory, on a gateway that is only told what to say. */
export class FakeIo implements Io {
  readonly stdin: Readable;
  readonly stdout: Screen;
  readonly stderr: Screen;
  readonly env: Record<string, string>;
  readonly cwd: string;
  readonly version = "1.2.3";
  readonly nodeVersion: string;
  readonly exits: number[] = [];
  /** What happened to the gateway and the doors, in order. */
  readonly events: string[] = [];
  /** Resolves when the gateway has been started and the command waits for something. */
  readonly started: Promise<void>;
  #start = (): void => {};
  /** The client on standard input leaves. */
  leaveStdio = (): void => {};
  readonly #stdioClosed = new Promise<void>((resolve) => (this.leaveStdio = resolve));
  config: GatewayConfig | undefined;
  doors: DoorsOptions | undefined;
  log: GatewayOptions["log"] | undefined;
  readonly #options: FakeIoOptions;
  readonly #interrupts = new Set<() => void>();
  readonly #watchers = new Set<(status: UpstreamStatus) => void>();
  #upstreams: readonly UpstreamStatus[];

  constructor(options: FakeIoOptions = {}) {
    this.#options = options;
    this.#upstreams = options.upstreams ?? [];
    this.started = new Promise((resolve) => (this.#start = resolve));
    this.stdin = options.stdin === undefined ? new PassThrough() : Readable.from([options.stdin]);
    this.stdout = new Screen(options.isTTY ?? false, options.columns ?? 80);
    this.stderr = new Screen(options.isTTY ?? false, options.columns ?? 80);
    this.env = options.env ?? {};
    this.cwd = options.cwd ?? "/nowhere";
    this.nodeVersion = options.nodeVersion ?? "v20.19.0";
  }

  run(...argv: string[]): Promise<number> {
    return run(argv, this);
  }

  /** As a signal does. */
  interrupt(): void {
    for (const listener of this.#interrupts) listener();
  }

  get interruptible(): boolean {
    return this.#interrupts.size > 0;
  }

  /** Changes one upstream's status and tells whoever watches. */
  upstream(status: UpstreamStatus): void {
    this.#upstreams = this.#upstreams.map((old) => (old.namespace === status.namespace ? status : old));
    this.events.push(`${status.namespace} ${status.state}`);
    for (const watcher of this.#watchers) watcher(status);
  }

  now(): Date {
    return new Date(2026, 0, 2, 12, 3, 4);
  }

  onInterrupt(listener: () => void): () => void {
    this.#interrupts.add(listener);
    return () => this.#interrupts.delete(listener);
  }

  exit(code: number): void {
    this.exits.push(code);
  }

  readonly createGateway = async (config: GatewayConfig, { log }: GatewayOptions): Promise<Gateway> => {
    if (this.#options.broken) throw this.#options.broken;
    this.config = config;
    this.log = log;
    return {
      caller: {
        list: async () => {
          this.events.push("list");
          return this.#options.tools ?? [];
        },
        call: (operation, ctx) => {
          this.events.push("call");
          return this.#options.call!(operation, ctx);
        },
        items: () => Promise.reject(new Error("the command line asks for tools only")),
        find: () => Promise.reject(new Error("the command line looks nothing up")),
        watch: () => () => {},
        info: async () => ({ capabilities: {} }),
      },
      stop: async () => void this.events.push("stop"),
      endpoint: () => undefined,
      start: () => {
        this.events.push("start");
        this.#start();
      },
      settled: () => this.#settled(),
      upstreams: () => this.#upstreams,
      onUpstream: (listener) => this.#watch(listener),
      containment: { level: "pid-namespace", explain: "The kernel ends them." },
      close: async () => void this.events.push("close gateway"),
    };
  };

  readonly signIn: SignIn = (upstream, options) => this.#options.signIn!(upstream, options);

  readonly openDoors = async (options: DoorsOptions): Promise<Doors> => {
    if (this.#options.closedDoors) throw this.#options.closedDoors;
    this.doors = options;
    this.events.push("open doors");
    const { http, tcp, ws, unix } = options;
    return {
      ...(http && { url: `http://${http.host}:${http.port}/mcp` }),
      ...(tcp && { tcp: `tcp://${tcp.host}:${tcp.port}` }),
      ...(ws && { ws: `ws://${ws.host}:${ws.port}/mcp` }),
      ...(ws?.ide && { ideLock: `${ws.ide.folder}/${ws.port}.lock` }),
      ...(unix !== undefined && { unix: `unix:${unix}` }),
      stdioClosed: this.#stdioClosed,
      close: async () => void this.events.push("close doors"),
    };
  };

  #watch(listener: (status: UpstreamStatus) => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  #settled(): Promise<void> {
    const done = (): boolean => this.#upstreams.every(({ state }) => state !== "starting");
    if (done()) return Promise.resolve();
    return new Promise((resolve) => this.#watch(() => done() && resolve()));
  }
}
