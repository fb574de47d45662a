import { createDescription } from "./description.mjs";
import { tryOnce } from "./inputRequired.mjs";
import { Tasks, tasksExtension } from "./tasks.mjs";
import { taskTools } from "./taskTools.mjs";

/**
 * The description, by default with the tools of the tasks extension, as a `ToolProvider`: served by Toolgate's own
 * shell, in both eras. `ToolError` is the class of the build that serves it.
 */
export function createEverything({
  ToolError,
  namespace = "everything",
  description = createDescription({ tools: taskTools }),
}) {
  const { world, capabilities, instructions } = description;
  const tasks = new Tasks(ToolError);
  const refuse = (message) =>
    new ToolError("UpstreamError", message, { data: { error: { code: -32602, message } } });

  /** Runs what `find` has found, or throws `NotFound`. */
  function run(kind, name, args, ctx) {
    const subject = description.find(kind, name);
    if (!subject) throw new ToolError("NotFound", `There is no ${name} in ${namespace}.`);
    const go = tasks.wayFor(subject, ctx, ioOf(ctx));
    if (!subject.rounds) return go((io) => subject.run(args, io));
    subject.begin?.(ioOf(ctx));
    const answer = (responses) => go(() => subject.answer(responses));
    return tryOnce({ ...subject, answer }, ctx, refuse);
  }

  return {
    namespace,
    listTools: async () => description.list("tools"),
    callTool: async (name, args, ctx) => run("tools", name, args, ctx),
    watch(listener) {
      world.on("list", listener);
      return () => world.off("list", listener);
    },
    resources: {
      listResources: async () => description.list("resources"),
      listResourceTemplates: async () => description.templates,
      readResource: async (uri, ctx) => description.readTemplate(uri) ?? run("resources", uri, {}, ctx),
      async subscribe(uri, { updated, cancellation }) {
        const listener = (changed) => changed === uri && updated({ uri });
        world.on("updated", listener);
        cancellation.onCancel(() => world.off("updated", listener));
      },
    },
    prompts: {
      listPrompts: async () => description.list("prompts"),
      getPrompt: async (name, args, ctx) => run("prompts", name, args, ctx),
    },
    tasks,
    complete: async (request) => description.complete(request),
    info: async () => ({
      capabilities: { ...capabilities, extensions: { [tasksExtension]: {} } },
      instructions,
    }),
  };
}

function ioOf(ctx) {
  return {
    ask: (request) => ctx.ask(request),
    log: (level, data) => ctx.log(level, data),
    progress: (progress) => ctx.progress(progress),
    // The context of a call knows no streams.
    closeStream: () => {},
    signal: ctx.signal,
  };
}
