import { BridgeClient } from "./clients.mjs";
import { callToolAlone } from "./rawRequest.mjs";

/** Milliseconds that one check may take. */
const limitMs = 10_000;

/** One check in one cell: the clients that it opens are closed with it, and what it awaits is known. */
export class Run {
  cell;
  #bridge;
  #awaited = new Set();
  #clients = [];

  constructor(bridge, cell) {
    this.#bridge = bridge;
    this.cell = cell;
  }

  /** Rejects as `check(run)` does, or with what was awaited when its time was up. */
  static async check(bridge, cell, { check }) {
    const run = new Run(bridge, cell);
    let limit;
    const late = new Promise((_, reject) => {
      limit = setTimeout(() => reject(new Error(`${limitMs} ms have passed: ${run.#awaiting()}`)), limitMs);
    });
    try {
      await Promise.race([check(run), late]);
    } finally {
      clearTimeout(limit);
      await Promise.allSettled(run.#clients.map((client) => client.close()));
    }
  }

  /** Where the upstream of this cell alone is served, or another one. */
  get namespace() {
    const { upstream, transport } = this.cell;
    return `${upstream}_${transport}`;
  }

  /** Another upstream, of the same kind of transport and the other era. */
  get otherNamespace() {
    const { upstream, transport } = this.cell;
    return `${upstream === "legacy" ? "modern" : "legacy"}_${transport}`;
  }

  /** An upstream like that of this cell, which may be ended. */
  get mortalNamespace() {
    return `${this.cell.upstream}_mortal`;
  }

  /**
   * A client of this cell's era, at the endpoint of the cell's upstream. `namespace` names another one, `null` the one of
   * all together; `principal` is `ada` (default) or `grace`; the other options are those of `BridgeClient.connect`.
   */
  async client({ namespace = this.namespace, principal = "ada", ...options } = {}) {
    const client = new BridgeClient((what, promise) => this.until(what, promise));
    this.#clients.push(client);
    const era = this.cell.client;
    const connected = client.connect(this.#bridge.urlOf(namespace), {
      era,
      token: this.#bridge.tokens[principal],
      ...options,
    });
    await this.until(`a ${era} client that connects`, connected);
    return client;
  }

  /** See `callToolAlone`: over a connection of its own, by a modern client. */
  callToolAlone(params, { principal = "ada" } = {}) {
    const target = { url: this.#bridge.urlOf(this.namespace), token: this.#bridge.tokens[principal] };
    return this.until(`the answer to ${params.name}`, callToolAlone(target, params));
  }

  /** Settles as `promise` does; meanwhile it is what is awaited. */
  async until(what, promise) {
    const entry = { what };
    this.#awaited.add(entry);
    try {
      return await promise;
    } finally {
      this.#awaited.delete(entry);
    }
  }

  #awaiting() {
    const awaited = Array.from(this.#awaited, ({ what }) => what);
    return awaited.length > 0 ? `${awaited.join(" and ")} did not come` : "nothing was awaited";
  }
}
