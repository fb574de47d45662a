import { localPrincipal } from "../core/principal.ts";
import type { Log } from "../core/effects.ts";
import type { HttpDoorOptions } from "../gateway/doors.ts";
import { parseAddress } from "../gateway/configListen.ts";
import { ensureToken } from "../gateway/token.ts";
import type { GatewayConfig, HttpAddress } from "../gateway/types.ts";
import { parseFlags, RefusedError, UsageError } from "./flags.ts";
import { exitCodes, type Io } from "./io.ts";
import { createLog } from "./log.ts";
import { readConfig } from "./session.ts";
import { announce, type Announcement } from "./announce.ts";

const flags = {
  config: { type: "string" },
  stdio: { type: "boolean" },
  http: { type: "string" },
  "no-auth": { type: "boolean" },
} as const;

type Flags = ReturnType<typeof parseFlags<typeof flags>>["values"];

/** `toolgate serve`: opens the doors and stays until a signal comes or the client on standard input is gone. */
export async function serve(argv: readonly string[], io: Io): Promise<number> {
  refuseLaterFlags(argv);
  const { values } = parseFlags(argv, flags);
  const flagAddress = values.http === undefined ? undefined : readAddress(values.http);
  const log = createLog(io, "notice");
  const { config, file, notes } = await readConfig(io, values.config);
  for (const { level, message } of notes) log(level, message);
  const chosen = chooseDoors(values, flagAddress, config);
  const http = chosen.http && (await withTokens(chosen.http, values, { io, config, log }));
  const signals = listenForSignals(io);
  try {
    const gateway = await io.createGateway(config, { log });
    try {
      gateway.start();
      await stay({ io, gateway, config, log, http, stdio: chosen.stdio, file }, signals.interrupted);
    } finally {
      await gateway.close();
    }
  } finally {
    signals.stop();
  }
  return exitCodes.done;
}

interface Serving extends Omit<Announcement, "url"> {
  readonly log: Log;
}

/** With the doors open, until one of the two ends comes. */
async function stay({ log, ...serving }: Serving, interrupted: Promise<void>): Promise<void> {
  const { io, gateway, config, http } = serving;
  const stdio = serving.stdio && { stdio: { input: io.stdin, output: io.stdout } };
  const doors = await io
    .openDoors({ gateway, config, log, ...(http && { http }), ...stdio })
    .catch(cannotOpen);
  const stopTelling = announce({ ...serving, url: doors.url });
  await Promise.race([interrupted, doors.stdioClosed]);
  stopTelling();
  await doors.close();
}

/** A port that is taken, or may not be opened: the message says which and what to do. */
function cannotOpen(cause: Error): never {
  throw new RefusedError(cause.message, { cause });
}

/** The first signal ends the command in order, the second at once. */
function listenForSignals(io: Io): { interrupted: Promise<void>; stop: () => void } {
  let first = true;
  let interrupt = (): void => {};
  const interrupted = new Promise<void>((resolve) => (interrupt = resolve));
  const stop = io.onInterrupt(() => {
    if (!first) io.exit(exitCodes.interrupted);
    first = false;
    interrupt();
  });
  return { interrupted, stop };
}

function refuseLaterFlags(argv: readonly string[]): void {
  const later = argv.map((word) => /^--(?:tcp|unix|ws)(?==|$)/.exec(word)?.[0]).find((flag) => flag);
  if (later) throw new UsageError(`${later} is not supported by this version. Use --http or --stdio.`);
}

function readAddress(text: string): HttpAddress {
  const address = parseAddress(text);
  if ("message" in address) throw new UsageError(`--http ${text}: ${address.message}`);
  return address;
}

interface ChosenDoors {
  readonly http?: HttpAddress;
  readonly stdio: boolean;
}

/** What the flags name; where they name nothing, what the configuration does. */
function chooseDoors(values: Flags, http: HttpAddress | undefined, config: GatewayConfig): ChosenDoors {
  const byFlags = http !== undefined || values.stdio === true;
  const doors = byFlags ? { ...(http && { http }), stdio: values.stdio === true } : config.listen;
  if (!doors.http && !doors.stdio)
    throw new UsageError(
      "There is nothing to listen on: the configuration says so. Give --http PORT or --stdio.",
    );
  if (values["no-auth"] && !doors.http)
    throw new UsageError("--no-auth is about HTTP, and no HTTP is served. Remove it, or add --http PORT.");
  return doors;
}

async function withTokens(
  address: HttpAddress,
  values: Flags,
  { io, config, log }: { io: Io; config: GatewayConfig; log: Log },
): Promise<HttpDoorOptions> {
  if (values["no-auth"]) {
    log("warning", "No token is asked for: every program on this machine, of any user, may call every tool.");
    return { ...address, tokens: "none" };
  }
  if (config.principals.length > 0)
    return { ...address, tokens: new Map(config.principals.map(({ name, token }) => [name, token])) };
  const { token, file, created, tightened } = await ensureToken(io.env);
  if (created) log("notice", `A bearer token was made and is kept in ${file}.`);
  for (const path of tightened)
    log(
      "warning",
      `${path} was open to other users of this machine; it is not any more. If they should not have read it, remove it and start again.`,
    );
  return { ...address, tokens: new Map([[localPrincipal.id, token]]) };
}
