import type { UpstreamStatus } from "../gateway/types.ts";
import { count, oneLine, type Style } from "./output.ts";

/** `ready   fs: 12 tools, modern 2026-07-28` or `failed  fs: why`. */
export function describeUpstream(status: UpstreamStatus, style: Style): string {
  const { namespace, state, tools, era, protocolVersion, error } = status;
  const paint = { starting: style.dim, ready: style.green, failed: style.red, closed: style.dim }[state];
  const facts = [
    tools === undefined ? "" : count(tools, "tool"),
    [era, protocolVersion].filter((part) => part !== undefined).join(" "),
    state === "failed" ? oneLine(error ?? "no reason given") : "",
  ].filter((part) => part !== "");
  return `${paint(state.padEnd(8))} ${namespace}${facts.length === 0 ? "" : `: ${facts.join(", ")}`}`;
}
