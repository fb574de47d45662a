import { Cancellation } from "../../core/cancellation.ts";
import type { InputRequest } from "../../core/context.ts";
import { ToolError } from "../../core/errors.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { Operation, Outcome } from "../../core/operation.ts";
import { unaskable } from "./clientCapabilities.ts";
import { contextOf, type Current } from "./context.ts";
import type { MethodRequest, Server } from "./method.ts";
import { OpenQuestions } from "./openQuestions.ts";

interface Question {
  readonly request: InputRequest;
  resolve(answer: JsonObject): void;
  reject(error: ToolError): void;
  /** Gives its place back. */
  leave(): void;
}

/**
 * An operation of a modern client that may outlive the request that began it: when what runs asks the client
 * something, the request is answered with the questions, and the next one brings the answers and takes the call over.
 */
export class HeldCall implements Current {
  readonly operation: Operation;
  /** Progress and logs go to it, and while it is open its end is the call's. */
  request: MethodRequest;
  /** The first capability that was wanted and the client had not declared. */
  lacking: ToolError | undefined;
  readonly #cancellation = new Cancellation();
  readonly #ended: Promise<Outcome>;
  /** Made with the first one: few calls ask. */
  #questions: Map<string, Question> | undefined;
  readonly #open = new OpenQuestions();
  #stopFollowing: () => void;
  #count = 0;
  #tell: ((event: "asked") => void) | undefined;

  constructor(server: Server, request: MethodRequest, operation: Operation) {
    this.operation = operation;
    this.request = request;
    this.#stopFollowing = this.#follow(request);
    const onAsk = (question: InputRequest): Promise<JsonObject> => this.#ask(question);
    this.#ended = server.caller.call(operation, contextOf(server, this, this.#cancellation, onAsk));
  }

  /** The questions that wait, by keys of this call's own. */
  get inputRequests(): Record<string, InputRequest> {
    return Object.fromEntries(Array.from(this.#questions ?? [], ([key, { request }]) => [key, request]));
  }

  /** Until the call is over, or wants to know something. */
  next(): Promise<Outcome | "asked"> {
    return new Promise((resolve, reject) => {
      this.#tell = resolve;
      this.#ended.then(resolve, reject);
      if (this.#questions?.size) this.#tellAsked();
    });
  }

  /** How the call has ended, if it has. */
  ended(): Promise<Outcome | undefined> {
    return Promise.race([this.#ended, Promise.resolve(undefined)]);
  }

  /** The request is answered with the questions: nobody's end is the call's any more. */
  detach(): void {
    this.#stopFollowing();
    this.#tell = undefined;
  }

  /** Another request takes over, with answers. What they leave out is asked again, if this one's client can be. */
  resume(request: MethodRequest, responses: JsonObject): void {
    this.request = request;
    this.#stopFollowing = this.#follow(request);
    for (const [key, question] of this.#questions ?? []) {
      const answer = Object.hasOwn(responses, key) ? responses[key] : undefined;
      const refusal = isObject(answer) ? undefined : this.#refusal(question.request);
      if (isObject(answer)) question.resolve(answer);
      else if (refusal) question.reject(refusal);
      else continue;
      question.leave();
      this.#questions!.delete(key);
    }
  }

  /** Nobody will answer any more. */
  abandon(reason: string): void {
    this.#rejectAll(new ToolError("ClientRefused", reason));
    this.#cancellation.cancel(reason);
  }

  #follow({ cancellation }: MethodRequest): () => void {
    return cancellation.onCancel((reason) => this.#cancellation.cancel(reason));
  }

  #ask(request: InputRequest): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const refusal = this.#cancellation.cancelled ? cancelled() : this.#refusal(request);
      if (refusal) return reject(refusal);
      const leave = this.#open.enter(request);
      this.#questions ??= this.#openQuestions();
      this.#questions.set(`input-${++this.#count}`, { request, resolve, reject, leave });
      this.#tellAsked();
    });
  }

  #openQuestions(): Map<string, Question> {
    this.#cancellation.onCancel(() => this.#rejectAll(cancelled()));
    return new Map();
  }

  #refusal(request: InputRequest): ToolError | undefined {
    const refusal = unaskable(request, this.request.clientCapabilities);
    this.lacking ??= refusal;
    return refusal;
  }

  #rejectAll(error: ToolError): void {
    for (const { reject, leave } of this.#questions?.values() ?? []) {
      leave();
      reject(error);
    }
    this.#questions?.clear();
  }

  /** A moment later, so that questions which are asked together are sent together. */
  #tellAsked(): void {
    queueMicrotask(() => this.#tell?.("asked"));
  }
}

function cancelled(): ToolError {
  return new ToolError("Cancelled", "The call was cancelled: nobody is there to answer.");
}
