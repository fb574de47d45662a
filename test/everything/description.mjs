import { askingTools, roundTools } from "./askingTools.mjs";
import { complete, prompts } from "./prompts.mjs";
import { readTemplate, resources, template } from "./resources.mjs";
import { contentTools, livingTools, notifyingTools, schemaTools } from "./tools.mjs";
import { World } from "./world.mjs";

/**
 * All that the conformance suite asks of a server, and what shows a gateway's notifications, independent of who serves
 * it. A subject is `{ definition, run(args, io) }` or `{ definition, rounds, answer }` (see `askingTools.mjs`). `io` is
 * how it reaches its client: `ask(request)`, `log(level, data)`, `progress({ progress, total })`, `closeStream()` and
 * an `AbortSignal`, `signal`. `tools` are added to those of its own.
 */
export function createDescription({ tools = [] } = {}) {
  const world = new World();
  const fixed = {
    tools: [
      ...contentTools,
      ...notifyingTools,
      ...schemaTools,
      ...askingTools,
      ...roundTools,
      ...livingTools(world),
      ...tools,
    ],
    prompts,
    resources: resources(world),
  };
  /** The subjects of a list, as it is now. */
  const all = (kind) => [...fixed[kind], ...world.extra(kind)];
  return {
    world,
    list: (kind) => all(kind).map(({ definition }) => definition),
    templates: [template],
    find: (kind, name) => all(kind).find(({ definition: own }) => (own.uri ?? own.name) === name),
    readTemplate,
    complete,
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      completions: {},
      logging: {},
    },
    instructions: "Everything that MCP has, for tests.",
  };
}
