import { capabilityFor, isAnswerTo } from "./questions.mjs";
import { open, seal } from "./sealedState.mjs";

/**
 * One try of a subject with rounds, without holding anything between tries: what to ask next (`InputRequired`), or the
 * result. Throws what `refuse(message)` makes for a `requestState` that is not its own.
 */
export function tryOnce(subject, ctx, refuse) {
  const { rounds, optional = false, answer } = subject;
  const { round, responses, given } = readAnswers(subject, ctx.answers, refuse);
  const questions = optional ? answerable(rounds[round], ctx.clientCapabilities) : rounds[round];
  const isAnswered = ([key, question]) => Object.hasOwn(given, key) && isAnswerTo(question, given[key]);
  if (!Object.entries(questions).every(isAnswered)) return ask(subject, questions, { round, responses });
  for (const key of Object.keys(questions)) responses[key] = given[key];
  const next = rounds[round + 1];
  return next ? ask(subject, next, { round: round + 1, responses }) : answer(responses);
}

const nameOf = ({ definition }) => definition.uri ?? definition.name;

function ask(subject, inputRequests, progress) {
  const state = subject.keepsState && { requestState: seal({ name: nameOf(subject), ...progress }) };
  return { type: "input_required", inputRequests, ...state };
}

/** The round that the client answers, the responses of those before, and what it has given now. */
function readAnswers(subject, answers, refuse) {
  if (!subject.keepsState) return { round: 0, responses: {}, given: answers?.responses ?? {} };
  // Answers are to what a state has asked: without one, nothing has been.
  if (answers?.requestState === undefined) return { round: 0, responses: {}, given: {} };
  const state = open(answers.requestState);
  if (state?.name !== nameOf(subject))
    throw refuse(`That requestState is not one of ${nameOf(subject)}: call it again without one.`);
  return { ...state, given: answers.responses };
}

function answerable(questions, capabilities) {
  return Object.fromEntries(
    Object.entries(questions).filter(([, { method }]) => capabilityFor[method] in capabilities),
  );
}
