import { headersFor, initialize, initialized, messageFor, toolsCall } from "../requests.mjs";
import { HttpConnection } from "./httpConnection.mjs";

/** Calls over Streamable HTTP on `concurrency` keep-alive connections. Returns `run(calls)`. */
export async function httpLoad({ url, tool, token, era, handshake, concurrency }) {
  const session = handshake ? await openSession({ url, tool, token }) : undefined;
  const headers = headersFor(era, tool, { token, session });
  let id = 0;

  // Connections live for one run: between runs a server closes idle ones.
  return async function run(calls) {
    const last = id + calls;
    const workers = Array.from({ length: concurrency }, async () => {
      const connection = await HttpConnection.open(url);
      const head = connection.head(headers);
      while (id < last) await callOnce(connection, head, ++id);
      connection.close();
    });
    await Promise.all(workers);
  };

  async function callOnce(connection, head, callId) {
    const message = messageFor(callId);
    const { status, body } = await connection.post(
      head,
      JSON.stringify(toolsCall(era, tool, callId, message)),
    );
    if (status !== 200 || !body.includes(message)) throw new Error(`wrong answer: HTTP ${status} ${body}`);
  }
}

async function openSession({ url, tool, token }) {
  const connection = await HttpConnection.open(url);
  const first = connection.head(headersFor("legacy", tool, { token }));
  const { status, head, body } = await connection.post(first, JSON.stringify(initialize));
  if (status !== 200) throw new Error(`initialize failed: HTTP ${status} ${body}`);
  const session = /^mcp-session-id: *(\S+)/im.exec(head)?.[1];
  const next = connection.head(headersFor("legacy", tool, { token, session }));
  const accepted = await connection.post(next, JSON.stringify(initialized));
  if (accepted.status !== 202)
    throw new Error(`initialized failed: HTTP ${accepted.status} ${accepted.body}`);
  connection.close();
  return session;
}
