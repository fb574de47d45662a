// The subject's side of the control channel: the IPC pipe to the driver, beside whatever the subject serves.

/**
 * @typedef {{ url?: string, tool: string, token?: string }} Ready  Where a call goes: `url` on HTTP, the tool's name.
 */

/** Says that the subject serves, and answers the driver's questions from then on. @param {Ready} ready */
export function serveControl(ready) {
  process.on("message", (question) => void answer(question));
  process.on("disconnect", () => process.exit());
  process.send?.({ ready });
}

/** @param {"cpu" | "startProfile" | "stopProfile"} question */
async function answer(question) {
  switch (question) {
    case "cpu": {
      const { user, system } = process.cpuUsage();
      return process.send?.({ cpu: user + system });
    }
    case "startProfile":
      return process.send?.({ profiling: await startProfile() });
    case "stopProfile":
      return process.send?.({ profile: await stopProfile() });
  }
}

let session;

async function startProfile() {
  const { Session } = await import("node:inspector/promises");
  session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: 100 });
  await session.post("Profiler.start");
  return true;
}

async function stopProfile() {
  const result = await session?.post("Profiler.stop");
  session?.disconnect();
  return result?.profile;
}
