import { localPrincipal } from "../core/principal.ts";
import type { Log } from "../core/effects.ts";
import type { DoorsOptions, NetworkDoorOptions } from "../gateway/doors.ts";
import { ideFolder } from "../gateway/ideLock.ts";
import { ensureToken } from "../gateway/token.ts";
import type { GatewayConfig } from "../gateway/types.ts";
import { checkDoors, doorFlags, namedDoors, type ChosenDoors, type DoorFlags } from "./chooseDoors.ts";
import { parseFlags, RefusedError } from "./flags.ts";
import { exitCodes, type Io } from "./io.ts";
import { createLog } from "./log.ts";
import { readConfig } from "./session.ts";
import { announce, type Announcement } from "./announce.ts";

const flags = { config: { type: "string" }, ...doorFlags } as const;

/** `toolgate serve`: opens the doors and stays until a signal comes or the client on standard input is gone. */
export async function serve(argv: readonly string[], io: Io): Promise<number> {
  const { values } = parseFlags(argv, flags);
  const named = namedDoors(values, io.cwd);
  const log = createLog(io, "notice");
  const { config, file, notes } = await readConfig(io, values.config);
  for (const { level, message } of notes) log(level, message);
  const chosen = named ?? config.listen;
  checkDoors(chosen, values);
  const tokens = await readTokens(chosen, values, { io, config, log });
  const signals = listenForSignals(io);
  try {
    const gateway = await io.createGateway(config, { log });
    try {
      gateway.start();
      const wanted = { gateway, config, log, ...doorOptions(chosen, values, { io, config, tokens }) };
      await stay({ io, gateway, config, tokens, file }, wanted, signals.interrupted);
    } finally {
      await gateway.close();
    }
  } finally {
    signals.stop();
  }
  return exitCodes.done;
}

/** With the doors open, until one of the two ends comes. */
async function stay(
  serving: Omit<Announcement, "doors" | "stdio">,
  wanted: DoorsOptions,
  interrupted: Promise<void>,
): Promise<void> {
  const doors = await serving.io.openDoors(wanted).catch(cannotOpen);
  const stopTelling = announce({ ...serving, doors, stdio: wanted.stdio !== undefined });
  await Promise.race([interrupted, doors.stdioClosed]);
  stopTelling();
  await serving.gateway.stop();
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

type Tokens = NetworkDoorOptions["tokens"];

function doorOptions(
  { http, tcp, ws, unix, stdio }: ChosenDoors,
  values: DoorFlags,
  { io, config, tokens }: { io: Io; config: GatewayConfig; tokens: Tokens },
): Pick<DoorsOptions, "http" | "tcp" | "ws" | "unix" | "stdio"> {
  const workspaceFolders = [config.tools?.workspace ?? io.cwd];
  const ide = values.ide === true && { ide: { folder: ideFolder(io.env), workspaceFolders } };
  return {
    ...(http && { http: { ...http, tokens, sse: values.sse ?? config.listen.sse } }),
    ...(tcp && { tcp: { ...tcp, tokens } }),
    ...(ws && { ws: { ...ws, tokens, ...ide } }),
    ...(unix !== undefined && { unix }),
    ...(stdio && { stdio: { input: io.stdin, output: io.stdout } }),
  };
}

/** Of the doors that want one; none is made where no such door is opened. */
async function readTokens(
  { http, tcp, ws }: ChosenDoors,
  values: DoorFlags,
  { io, config, log }: { io: Io; config: GatewayConfig; log: Log },
): Promise<Tokens> {
  if (!http && !tcp && !ws) return "none";
  if (values["no-auth"]) {
    log("warning", "No token is asked for: every program on this machine, of any user, may call every tool.");
    return "none";
  }
  if (config.principals.length > 0) return new Map(config.principals.map(({ name, token }) => [name, token]));
  const { token, file, created, tightened } = await ensureToken(io.env);
  if (created) log("notice", `A bearer token was made and is kept in ${file}.`);
  for (const path of tightened)
    log(
      "warning",
      `${path} was open to other users of this machine; it is not any more. If they should not have read it, remove it and start again.`,
    );
  return new Map([[localPrincipal.id, token]]);
}
