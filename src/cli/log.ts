import { logLevels, type Log, type LogLevel } from "../core/effects.ts";
import type { Io } from "./io.ts";
import { oneLine, styleOf, writeLine } from "./output.ts";

/** Bytes that may wait for whoever reads standard error. While more do, nobody reads it, and lines are left out. */
const maxUnread = 1024 * 1024;

/**
 * Lines for a person on standard error: `12:03:04 warning fs: what happened key=value`. What is less severe
 * than `least` is left out, unless TOOLGATE_DEBUG is set.
 */
export function createLog(io: Io, least: LogLevel): Log {
  const style = styleOf(io.stderr, io.env);
  const debug = Boolean(io.env["TOOLGATE_DEBUG"]);
  const from = logLevels.indexOf(debug ? "debug" : least);
  let leftOut = 0;
  return (level, message, fields = {}) => {
    const severity = logLevels.indexOf(level);
    if (severity < from) return;
    if (io.stderr.writableLength > maxUnread) return void leftOut++;
    if (leftOut > 0)
      writeLine(io.stderr, style.yellow(`${leftOut} lines of the log were left out: nobody read them.`));
    leftOut = 0;
    const { upstream, ...rest } = fields;
    const paint =
      severity >= logLevels.indexOf("error") ? style.red : severity >= warning ? style.yellow : style.dim;
    const about = typeof upstream === "string" ? `${oneLine(upstream)}: ` : "";
    const details = Object.entries(rest).map(([key, value]) => ` ${key}=${show(value, debug)}`);
    const time = io.now().toTimeString().slice(0, 8);
    writeLine(io.stderr, `${style.dim(time)} ${paint(level)} ${about}${oneLine(message)}${details.join("")}`);
  };
}

const warning = logLevels.indexOf("warning");

function show(value: unknown, debug: boolean): string {
  if (value instanceof Error) return oneLine((debug && value.stack) || value.message);
  return oneLine(typeof value === "string" ? value : (JSON.stringify(value) ?? String(value)));
}
