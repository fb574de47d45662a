import { expect } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { fixturePath, test } from "../support/fixtures.ts";
import { waitUntil } from "../support/processes.ts";
import { http, modernPost, openSession } from "../support/rawHttp.ts";
import { recordings, type Recording } from "../support/recordings.ts";
import type { RunningToolgate } from "../support/toolgate.ts";
import type { Skip } from "../support/tools.ts";

// What 36 real servers listed, all behind one gateway. The recordings are not part of the repository.

interface Replayed extends Recording {
  readonly key: string;
}

/** Every other key makes most names longer than clients take. */
function replayed(skip: Skip): Replayed[] {
  return recordings(skip).map((recording, at) => ({
    ...recording,
    key: recording.name + (at % 2 === 0 ? "" : "-has-a-key-so-long-that-few-names-fit-behind-it"),
  }));
}

const configOf = (all: readonly Replayed[]) => ({
  mcpServers: Object.fromEntries(
    all.map(({ key, file }) => [
      key,
      { command: process.execPath, args: [fixturePath("replayServer.mjs"), file] },
    ]),
  ),
});

function allReady(toolgate: RunningToolgate, count: number): Promise<void> {
  const ready = (): number => toolgate.output().match(/^ready /gm)?.length ?? 0;
  return waitUntil(() => ready() === count, `${count} upstreams are ready`, 25_000);
}

test("1,461 tools of 36 servers keep all but their names, which every client takes", async ({
  start,
  skip,
}) => {
  const all = replayed(skip);
  const toolgate = await start(["serve", "--http", "0"], { config: configOf(all) });
  await allReady(toolgate, 36);
  const { json } = await http(toolgate, modernPost("tools/list"));
  const { tools } = (json as { result: { tools: JsonObject[] } }).result;

  const names = tools.map((tool) => tool["name"] as string);
  expect(names).toHaveLength(1461);
  expect(new Set(names).size).toBe(1461);
  expect(names.filter((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))).toEqual([]);
  expect(tools.map(withoutName)).toEqual(all.flatMap((one) => one.tools.map(withoutName)));
});

test("1,461 calls by exposed name reach their server under the tool's own name", async ({ start, skip }) => {
  const all = replayed(skip);
  const toolgate = await start(["serve", "--http", "0"], { config: configOf(all) });
  await allReady(toolgate, 36);
  const { json } = await http(toolgate, modernPost("tools/list"));
  const { tools } = (json as { result: { tools: JsonObject[] } }).result;

  // In batches, which revision 2025-03-26 has, rather than by 1,461 requests.
  const headers = await openSession(toolgate, "2025-03-26");
  const calls = tools.map(({ name }, id) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, arguments: {} },
  }));
  const replies: { id: number; result: { content: [{ text: string }] } }[] = [];
  for (let from = 0; from < calls.length; from += 100) {
    const answer = await http(toolgate, { headers, body: calls.slice(from, from + 100) });
    replies.push(...(answer.json as typeof replies));
  }
  const reached = replies.toSorted((a, b) => a.id - b.id).map(({ result }) => result.content[0].text);
  expect(reached.map((text) => JSON.parse(text) as unknown)).toEqual(
    all.flatMap((one) => one.tools.map(({ name }) => ({ file: one.file, name }))),
  );
});

test("two runs answer tools/list with the same bytes, in both eras", async ({ start, skip }) => {
  const config = configOf(replayed(skip));
  const list = async (): Promise<string[]> => {
    const toolgate = await start(["serve", "--http", "0"], { config });
    await allReady(toolgate, 36);
    const modern = await http(toolgate, modernPost("tools/list"));
    const headers = await openSession(toolgate);
    const legacy = await http(toolgate, {
      headers,
      body: { jsonrpc: "2.0", id: 1, method: "tools/list" },
    });
    await toolgate.stop();
    return [modern.text, legacy.text];
  };
  const [first, second] = [await list(), await list()];
  expect(first[0]!.length).toBeGreaterThan(2_000_000);
  // Not `toEqual`: the difference of two such texts is nothing to print.
  expect(first.map((text, at) => text === second[at])).toEqual([true, true]);
});

function withoutName({ name: _, _meta: __, ...rest }: JsonObject): JsonObject {
  return rest;
}
