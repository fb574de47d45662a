import assert from "node:assert/strict";
import { fill, textOf } from "./clients.mjs";

// Who is told and asked, and what becomes of a call whose client or upstream goes away. An entry with `only` is for the
// cells for which that holds.

const watched = "test://watched-resource";
const still = "test://static-text";

const uriIs = (uri) => (params) => params.uri === uri;
const isModern = ({ client }) => client === "modern";
const isLegacy = ({ client }) => client === "legacy";

/** Whatever was wrongly told comes before what follows it, which the same client is told rightly. */
async function toldWhereAsked(run) {
  const [client, elsewhere] = await Promise.all([
    run.client(),
    run.client({ namespace: run.otherNamespace }),
  ]);
  for (const one of [client, elsewhere])
    await one.listen({ lists: ["tools", "prompts"], uris: [watched, still] });
  await client.callTool("test_trigger_prompt_change");
  await client.hears("notifications/prompts/list_changed");
  await client.callTool("test_update_resource", { uri: watched });
  await client.hears("notifications/resources/updated", uriIs(watched));
  await elsewhere.callTool("test_trigger_tool_change");
  await elsewhere.hears("notifications/tools/list_changed");
  await elsewhere.callTool("test_update_resource", { uri: still });
  await elsewhere.hears("notifications/resources/updated", uriIs(still));
  assert.deepEqual(heardBy(elsewhere), ["notifications/tools/list_changed", still]);
  assert.deepEqual(heardBy(client), ["notifications/prompts/list_changed", watched]);
}

/** Of two clients of one upstream each hears of its own resource. */
async function toldWhoAsked(run) {
  const [client, another] = await Promise.all([run.client(), run.client({ principal: "grace" })]);
  await client.listen({ uris: [watched] });
  await another.listen({ uris: [still] });
  await client.callTool("test_update_resource", { uri: watched });
  await client.hears("notifications/resources/updated", uriIs(watched));
  await client.callTool("test_update_resource", { uri: still });
  await another.hears("notifications/resources/updated", uriIs(still));
  assert.deepEqual([heardBy(client), heardBy(another)], [[watched], [still]]);
}

const heardBy = ({ heard }) => heard.map(({ method, params }) => params?.uri ?? method);

/** What a modern client is asked by that tool, and the params with which it tries again. */
async function ask(run, params) {
  const { result } = await run.callToolAlone(params);
  assert.equal(result?.resultType, "input_required", "the first answer asks");
  const { inputRequests, requestState } = result;
  const responses = Object.entries(inputRequests).map(([key, { params: form }]) => [
    key,
    { action: "accept", content: fill(form.requestedSchema) },
  ]);
  return { inputRequests, retry: { ...params, requestState, inputResponses: Object.fromEntries(responses) } };
}

const whileRunning = { name: "test_elicitation", arguments: { message: "Who are you?" } };
const withRounds = { name: "test_input_required_result_elicitation" };

async function anotherConnection(run) {
  const running = await ask(run, whileRunning);
  assert.match(textOf((await run.callToolAlone(running.retry)).result), /"username":"ada"/);
  const rounds = await ask(run, withRounds);
  assert.equal(textOf((await run.callToolAlone(rounds.retry)).result), "Hello, Ada!");
}

/** An upstream's own question keeps its key; that of a legacy upstream, which has none, gets one. */
async function questionsUnchanged(run) {
  const { inputRequests } = await ask(run, withRounds);
  assert.deepEqual(Object.values(inputRequests), [
    {
      method: "elicitation/create",
      params: {
        message: "What is your name?",
        requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      },
    },
  ]);
  assert.deepEqual(Object.keys(inputRequests), [run.cell.upstream === "modern" ? "user_name" : "input-1"]);
}

async function borrowedState(run) {
  const { retry } = await ask(run, withRounds);
  const borrowed = await run.callToolAlone(retry, { principal: "grace" });
  assert.equal(borrowed.error?.code, -32602);
  const { result } = await run.callToolAlone(retry);
  assert.equal(textOf(result), "Hello, Ada!", "its owner can still use it");
}

async function capabilityMissing(run) {
  const client = await run.client({ capabilities: { elicitation: {} } });
  const call = client.callTool("test_missing_capability");
  if (isModern(run.cell)) {
    const { code, data } = await call.catch((error) => error);
    assert.deepEqual([code, data], [-32021, { requiredCapabilities: { sampling: {} } }]);
  } else if (run.cell.upstream === "legacy") assert.equal((await call).isError, true);
  // There is no code for it in a legacy session.
  else await assert.rejects(call, { code: -32603 });
  assert.deepEqual(client.asked, []);
}

async function sessionEnds(run) {
  const key = crypto.randomUUID();
  const question = deferred();
  const client = await run.client({
    answer: {
      "elicitation/create"() {
        question.resolve();
        return new Promise(() => {});
      },
    },
  });
  client.callTool("test_ask", { key }).catch(() => {});
  await run.until("the question", question.promise);
  await client.endSession();
  const next = await run.client();
  const happened = `refused ${key}`;
  // A modern server has had its answer, which asked: it waits for nobody.
  if (run.cell.upstream === "legacy")
    assert.equal(
      textOf(await next.callTool("test_await", { what: happened })),
      `It has happened: ${happened}`,
    );
  assert.equal(
    textOf(await next.callTool("test_elicitation", { message: "And you?" })).slice(0, 13),
    "User response",
  );
}

/** The call fails, and the next one finds the upstream started again. */
async function upstreamEnds(run) {
  const namespace = run.mortalNamespace;
  const another = await run.client({ namespace });
  const answer = async ({ requestedSchema }) => {
    await failureOf(another.callTool("test_exit"));
    return { action: "accept", content: fill(requestedSchema) };
  };
  const client = await run.client({ namespace, answer: { "elicitation/create": answer } });
  const failure = await failureOf(client.callTool("test_elicitation", { message: "Who are you?" }));
  assert.match(failure, new RegExp(`Upstream "${namespace}"`));
  assert.match(textOf(await client.callTool("test_simple_text")), /simple text/);
}

/** What a call says that fails, by a result or by an error. */
async function failureOf(call) {
  const outcome = await call.catch((error) => error);
  assert.ok(outcome.isError === true || outcome instanceof Error, "the call fails");
  return outcome.message ?? textOf(outcome);
}

/** Each question reaches the principal whose call asks it; where nothing tells whose it is, it reaches nobody. */
async function principalsApart(run) {
  const ask = { message: "Who are you?" };
  const grace = await run.client({ principal: "grace" });
  let graces;
  const answer = async ({ requestedSchema }) => {
    graces = await grace.callTool("test_elicitation", ask);
    return { action: "accept", content: { ...fill(requestedSchema), username: "the first" } };
  };
  const ada = await run.client({ answer: { "elicitation/create": answer } });
  assert.match(textOf(await ada.callTool("test_elicitation", ask)), /the first/);
  const { transport, upstream } = run.cell;
  if (transport === "stdio" && upstream === "legacy")
    assert.match(textOf(graces), /"isolation": "principal"/);
  else assert.match(textOf(graces), /"username":"ada"/);
  assert.deepEqual([ada.asked.length, graces.isError === true ? 0 : 1], [1, grace.asked.length]);
}

/** Entries are `{ name, check, only }`. */
export const edges = [
  { name: "told where asked", check: toldWhereAsked },
  { name: "told who asked", check: toldWhoAsked },
  { name: "capability missing", check: capabilityMissing },
  { name: "questions of two principals", check: principalsApart },
  { name: "upstream ends in a question", check: upstreamEnds },
  { name: "question unchanged", check: questionsUnchanged, only: isModern },
  { name: "answer on another connection", check: anotherConnection, only: isModern },
  { name: "state of another principal", check: borrowedState, only: isModern },
  { name: "session ends in a question", check: sessionEnds, only: isLegacy },
];

function deferred() {
  let resolve;
  const promise = new Promise((done) => (resolve = done));
  return { promise, resolve };
}
