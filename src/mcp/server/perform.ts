import type { InputRequest } from "../../core/context.ts";
import { ToolError } from "../../core/errors.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { Operation, OperationKind, Outcome } from "../../core/operation.ts";
import { isToolResult, type InputRequired } from "../../core/result.ts";
import type { RpcError } from "../../wire/jsonrpc.ts";
import { firstUnaskable } from "./clientCapabilities.ts";
import { contextOf, logLevelOf } from "./context.ts";
import { HeldCall } from "./heldCall.ts";
import { invalidParams, tooMany, type MethodRequest, type Server } from "./method.ts";
import { Questions } from "./questions.ts";
import { digestOf, type SealedState } from "./seal.ts";

/** How an operation ended for this request; `asked` is an `InputRequiredResult`. */
export type Performed =
  | Exclude<Outcome, { type: "input_required" }>
  | { readonly type: "asked"; readonly result: JsonObject };

/** A server that always wants more would never end. */
const maxRounds = 10;

/** What a modern client may be answered with questions (specification 2026-07-28, basic/patterns/mrtr, Supported Requests). */
const mayAsk: ReadonlySet<OperationKind> = new Set(["tools/call", "prompts/get", "resources/read"]);

/**
 * Runs an operation, and turns what it asks of the client into what the client's era has: requests to a legacy
 * client, an `input_required` result to a modern one (specification 2026-07-28, basic/patterns/mrtr).
 */
export function perform(server: Server, request: MethodRequest, operation: Operation): Promise<Performed> {
  if (request.era === "legacy") return performLegacy(server, request, operation);
  return mayAsk.has(operation.kind)
    ? performModern(server, request, operation)
    : performUnasked(server, request, operation);
}

async function performUnasked(
  server: Server,
  request: MethodRequest,
  operation: Operation,
): Promise<Performed> {
  const outcome = await server.caller.call(operation, contextOf(server, { request }, request.cancellation));
  if (outcome.type !== "input_required") return outcome;
  const message = `${operation.kind} asks the client something, and no client can be asked there.`;
  return { type: "error", error: new ToolError("Unsupported", message) };
}

async function performLegacy(
  server: Server,
  request: MethodRequest,
  operation: Operation,
): Promise<Performed> {
  const questions = new Questions(server, request);
  const ask = (question: InputRequest): Promise<JsonObject> => questions.ask(question);
  const ctx = contextOf(server, { request }, request.cancellation, ask);
  try {
    let outcome = await server.caller.call(operation, ctx);
    for (let round = 0; outcome.type === "input_required"; round++) {
      if (round === maxRounds) throw new ToolError("ExecutionFailed", `${operation.name} asks without end.`);
      const { canonicalName, asked } = outcome;
      const error = firstUnaskable(asked, request.clientCapabilities);
      if (error) throw error;
      const responses = await answersTo(asked, ask);
      const answers = { canonicalName, responses, ...stateOf(asked) };
      outcome = await server.caller.call({ ...operation, answers }, ctx);
    }
    return outcome;
  } catch (error) {
    if (error instanceof ToolError) return { type: "error", error };
    throw error;
  } finally {
    questions.end();
  }
}

async function answersTo(
  { inputRequests = {} }: InputRequired,
  ask: (question: InputRequest) => Promise<JsonObject>,
): Promise<JsonObject> {
  const answered = Object.entries(inputRequests).map(
    async ([key, question]) => [key, await ask(question)] as const,
  );
  return Object.fromEntries(await Promise.all(answered));
}

function stateOf({ requestState }: InputRequired): { requestState?: string } {
  return requestState === undefined ? {} : { requestState };
}

async function performModern(
  server: Server,
  request: MethodRequest,
  operation: Operation,
): Promise<Performed> {
  // Answers to nothing that was asked here are not looked at: what is needed is asked for.
  const isNew = request.params["requestState"] === undefined;
  const call = isNew ? new HeldCall(server, request, operation) : await takeUp(server, request, operation);
  const event = await call.next();
  return event === "asked" ? park(server, call) : finish(server, call, event);
}

async function finish(server: Server, call: HeldCall, outcome: Outcome): Promise<Performed> {
  if (outcome.type === "input_required") return passOn(server, call, outcome);
  // What failed for want of a capability is told so, as its server would have if it could.
  if (call.lacking && failed(outcome)) return { type: "error", error: call.lacking };
  return outcome;
}

function failed(outcome: Exclude<Outcome, { type: "input_required" }>): boolean {
  if (outcome.type === "error") return true;
  return isToolResult(outcome.result) && outcome.result.isError === true;
}

/** The call that waits for the answers which this request brings. Throws `RpcError`. */
async function takeUp(server: Server, request: MethodRequest, operation: Operation): Promise<HeldCall> {
  const responses = request.params["inputResponses"] ?? {};
  if (!isObject(responses)) throw invalidParams("params.inputResponses must be an object");
  // A malformed request must not use the state up.
  logLevelOf(request);
  const state = await openState(server, request, operation);
  if (state.held === undefined)
    return new HeldCall(server, request, { ...operation, answers: { ...state.asked!, responses } });
  const call = server.parking.take(state.held);
  if (!call) throw refused("it has been used already, or the call behind it is over");
  call.resume(request, responses);
  return call;
}

async function openState(
  server: Server,
  { params, exchange }: MethodRequest,
  operation: Operation,
): Promise<SealedState> {
  const { requestState } = params;
  const state = typeof requestState === "string" ? await server.seal.open(requestState) : undefined;
  if (!state) throw refused("it was not made here, or not by this process");
  if (state.principal !== exchange.principal.id) throw refused("it was given to somebody else");
  if (state.digest !== (await digestOf(operation))) throw refused("it belongs to another request");
  if (state.expires <= server.clock.now()) throw refused("it has expired");
  return state;
}

function refused(why: string): RpcError {
  return invalidParams(`params.requestState is not valid: ${why}. Send the request again without it.`);
}

/** The call waits here, and its client gets the questions. Throws `RpcError` where too many wait. */
async function park(server: Server, call: HeldCall): Promise<Performed> {
  const held = crypto.randomUUID();
  const requestState = await seal(server, call, { held });
  // That took a moment. Who has gone away meanwhile will not come back, and what is over waits for nothing.
  const outcome = await call.ended();
  if (outcome) return finish(server, call, outcome);
  if (call.request.cancellation.cancelled)
    return { type: "error", error: new ToolError("Cancelled", "The request was cancelled.") };
  call.detach();
  if (!server.parking.put(held, call))
    throw tooMany("Too many calls of this principal wait for answers. Answer or drop some first.");
  const { inputRequests } = call;
  return { type: "asked", result: { resultType: "input_required", inputRequests, requestState } };
}

/** An upstream's own questions and state go on, the state inside ours. */
async function passOn(
  server: Server,
  call: HeldCall,
  { canonicalName, asked }: Extract<Outcome, { type: "input_required" }>,
): Promise<Performed> {
  const { inputRequests, _meta } = asked;
  const error = firstUnaskable(asked, call.request.clientCapabilities);
  if (error) return { type: "error", error };
  const requestState = await seal(server, call, { asked: { canonicalName, ...stateOf(asked) } });
  const result: JsonObject = { resultType: "input_required", requestState };
  if (inputRequests) result["inputRequests"] = inputRequests;
  if (_meta) result["_meta"] = _meta;
  return { type: "asked", result };
}

async function seal(
  { seal, clock, answerMs }: Server,
  { request, operation }: HeldCall,
  what: Pick<SealedState, "held" | "asked">,
): Promise<string> {
  return seal.close({
    principal: request.exchange.principal.id,
    digest: await digestOf(operation),
    expires: clock.now() + answerMs,
    ...what,
  });
}
