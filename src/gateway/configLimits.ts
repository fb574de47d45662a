import type { ConfigValue } from "./configValue.ts";
import type { Limits } from "./types.ts";

const kiB = 1024;
const miB = 1024 * kiB;
/** Text beyond this does not fit into one string. */
const maxBytes = 256 * miB;
/** Milliseconds: the longest span that a timer takes. */
export const maxTimerMs = 2 ** 31 - 1;

export const defaultLimits: Limits = {
  messageBytes: 4 * miB,
  upstreamMessageBytes: 32 * miB,
  callsRunning: 256,
  callsWaiting: 4096,
  callTimeoutMs: 60_000,
  callTimeoutMaxMs: 600_000,
  resultBytes: 16 * miB,
};

const ranges: Readonly<Record<keyof Limits, { readonly min: number; readonly max: number }>> = {
  messageBytes: { min: kiB, max: maxBytes },
  upstreamMessageBytes: { min: kiB, max: maxBytes },
  callsRunning: { min: 1, max: 1_000_000 },
  callsWaiting: { min: 0, max: 1_000_000 },
  callTimeoutMs: { min: 1, max: maxTimerMs },
  callTimeoutMaxMs: { min: 1, max: maxTimerMs },
  resultBytes: { min: kiB, max: maxBytes },
  resultTextBytes: { min: 256, max: maxBytes },
};

/** The section `limits`, with the defaults for what it leaves out. */
export function readLimits(section: ConfigValue | undefined): Limits {
  const names = Object.keys(ranges) as (keyof Limits)[];
  const fields = section?.fields(names) ?? {};
  const given = names.flatMap((name) => {
    const value = fields[name]?.integer(ranges[name]);
    return value === undefined ? [] : [[name, value] as const];
  });
  const limits: Limits = { ...defaultLimits, ...Object.fromEntries(given) };
  if (limits.callTimeoutMs > limits.callTimeoutMaxMs)
    (fields.callTimeoutMs ?? fields.callTimeoutMaxMs)?.fail(
      `callTimeoutMs (${limits.callTimeoutMs}) must not be larger than callTimeoutMaxMs (${limits.callTimeoutMaxMs}).`,
    );
  return limits;
}
