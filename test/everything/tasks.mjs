import { randomUUID } from "node:crypto";
import { isAnswerTo } from "./questions.mjs";

// Tasks in memory (extension io.modelcontextprotocol/tasks, SEP-2663). They are kept for as long as the server runs.

export const tasksExtension = "io.modelcontextprotocol/tasks";

/** Milliseconds between two looks at a task. */
const pollIntervalMs = 100;
const internalError = -32603;

/** One piece of work that goes on after its call has been answered. */
class Task {
  #createdAt = new Date().toISOString();
  #lastUpdatedAt = this.#createdAt;
  /** How it ended, as `tasks/get` tells it. */
  #end;
  /** `{ request, resolve }` by keys, of which none comes twice. */
  #questions = new Map();
  #asked = 0;
  #abort = new AbortController();

  constructor(work) {
    this.id = randomUUID();
    const io = {
      ask: (request) => this.#ask(request),
      // A task has no request that these could belong to.
      log() {},
      progress() {},
      closeStream() {},
      signal: this.#abort.signal,
    };
    (async () => work(io))().then(
      (result) => this.#finish({ status: "completed", result }),
      ({ message }) => this.#finish({ status: "failed", error: { code: internalError, message } }),
    );
  }

  /** A `Task`. */
  get summary() {
    return {
      taskId: this.id,
      status: this.#state.status,
      createdAt: this.#createdAt,
      lastUpdatedAt: this.#lastUpdatedAt,
      ttlMs: null,
      pollIntervalMs,
    };
  }

  /** A `DetailedTask`. */
  get details() {
    return { ...this.summary, ...this.#state };
  }

  /** Takes answers to what is asked now, and no others. */
  answer(responses) {
    for (const [key, answer] of Object.entries(responses)) {
      const question = this.#questions.get(key);
      if (!question || !isAnswerTo(question.request, answer)) continue;
      this.#questions.delete(key);
      this.#changed();
      question.resolve(answer);
    }
  }

  cancel() {
    this.#finish({ status: "cancelled" });
    this.#abort.abort();
  }

  get #state() {
    if (this.#end) return this.#end;
    if (this.#questions.size === 0) return { status: "working" };
    const questions = [...this.#questions].map(([key, { request }]) => [key, request]);
    return { status: "input_required", inputRequests: Object.fromEntries(questions) };
  }

  #ask(request) {
    return new Promise((resolve) => {
      this.#asked += 1;
      this.#questions.set(`question-${this.#asked}`, { request, resolve });
      this.#changed();
    });
  }

  /** Only the first end counts. */
  #finish(end) {
    if (this.#end) return;
    this.#end = end;
    this.#changed();
  }

  #changed() {
    this.#lastUpdatedAt = new Date().toISOString();
  }
}

/** A `TaskProvider`. `ToolError` is the class of the build that serves it. */
export class Tasks {
  #tasks = new Map();
  #ToolError;

  constructor(ToolError) {
    this.#ToolError = ToolError;
  }

  /**
   * How this caller gets a subject's work done: `work(io)` becomes a task where the subject may be one and the client
   * takes tasks; else it is done at once, with the call's own `io`. Throws where there is no other way than a task.
   */
  wayFor({ definition, task }, { clientCapabilities }, io) {
    if (!task) return (work) => work(io);
    if (clientCapabilities.extensions?.[tasksExtension]) return (work) => this.#start(work);
    if (task === "optional") return (work) => work(io);
    throw new this.#ToolError(
      "MissingClientCapability",
      `${definition.name} needs a client that declares the extension ${tasksExtension}.`,
      { data: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } } },
    );
  }

  async request(method, { taskId, inputResponses }) {
    const task = this.#tasks.get(taskId);
    if (!task) throw new this.#ToolError("NotFound", `There is no task ${taskId}.`);
    if (method === "tasks/get") return task.details;
    if (method === "tasks/update") task.answer(inputResponses);
    else task.cancel();
    return {};
  }

  #start(work) {
    const task = new Task(work);
    this.#tasks.set(task.id, task);
    return { type: "raw", value: { resultType: "task", ...task.summary } };
  }
}
