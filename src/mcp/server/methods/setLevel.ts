import { logLevels, type LogLevel } from "../../../core/effects.ts";
import { invalidParams, type Method } from "../method.ts";

/** Legacy only (specification 2025-11-25, server/utilities/logging): the level holds for the session. */
export const setLevel: Method = (_server, { params, exchange }) => {
  const level = toLogLevel(params["level"], "logging/setLevel: params.level");
  if (exchange.session?.legacy) exchange.session.legacy.logLevel = level;
  return {};
};

export function toLogLevel(value: unknown, what: string): LogLevel {
  const level = logLevels.find((known) => known === value);
  if (!level) throw invalidParams(`${what} must be one of ${logLevels.join(", ")}`);
  return level;
}
