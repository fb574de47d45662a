import { ToolError } from "../core/errors.ts";
import type { ToolProvider } from "../core/provider.ts";
import type { BrokenUpstreamConfig, UpstreamStatus } from "./types.ts";

/** A server that cannot be reached as it is configured: it has failed from the start, and is never tried. */
export class BrokenUpstream implements ToolProvider {
  readonly namespace: string;
  readonly status: UpstreamStatus;

  constructor({ namespace, reason }: BrokenUpstreamConfig) {
    this.namespace = namespace;
    this.status = { namespace, state: "failed", error: reason, restarts: 0 };
  }

  start(): void {}

  async settled(): Promise<void> {}

  async listTools(): Promise<never> {
    throw this.#unavailable();
  }

  async callTool(): Promise<never> {
    throw this.#unavailable();
  }

  #unavailable(): ToolError {
    return new ToolError("Unavailable", `Upstream "${this.namespace}" cannot be used: ${this.status.error}`);
  }
}
