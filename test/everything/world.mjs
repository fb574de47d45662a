import { EventEmitter, once } from "node:events";
import { text } from "./content.mjs";

/** One entry of each list that comes and goes. */
const extra = {
  tools: {
    definition: { name: "test_extra_tool", description: "Comes and goes.", inputSchema: { type: "object" } },
    run: () => ({ content: [text("Here now.")] }),
  },
  prompts: {
    definition: { name: "test_extra_prompt", description: "Comes and goes." },
    run: () => ({ messages: [] }),
  },
  resources: {
    definition: { uri: "test://extra", name: "extra", description: "Comes and goes." },
    run: () => ({ contents: [{ uri: "test://extra", mimeType: "text/plain", text: "Here now." }] }),
  },
};

/**
 * What changes while a server runs. Emits `list` with the kind of a list that has changed, and `updated` with the
 * URI of a resource that has.
 */
export class World extends EventEmitter {
  #shown = new Set();
  #changes = new Map();
  #past = new Set();

  constructor() {
    super();
    // One for each session.
    this.setMaxListeners(0);
  }

  /** `kind`: `tools`, `prompts` or `resources`. */
  toggle(kind) {
    if (!this.#shown.delete(kind)) this.#shown.add(kind);
    this.emit("list", kind);
  }

  extra(kind) {
    return this.#shown.has(kind) ? [extra[kind]] : [];
  }

  update(uri) {
    this.#changes.set(uri, this.changesOf(uri) + 1);
    this.emit("updated", uri);
  }

  changesOf(uri) {
    return this.#changes.get(uri) ?? 0;
  }

  /** Something that no client is told of: who wants to know it waits for it. */
  happened(what) {
    this.#past.add(what);
    this.emit("happened");
  }

  async when(what) {
    while (!this.#past.has(what)) await once(this, "happened");
  }
}
