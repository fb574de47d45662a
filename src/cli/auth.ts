import { Cancellation } from "../core/cancellation.ts";
import { didYouMean } from "../gateway/nearest.ts";
import { hasAuthorization } from "../gateway/oauth.ts";
import type { GatewayConfig, HttpUpstreamConfig } from "../gateway/types.ts";
import { parseFlags, RefusedError, UsageError } from "./flags.ts";
import { exitCodes, type Io } from "./io.ts";
import { createLog } from "./log.ts";
import { oneLine, styleOf, writeLine } from "./output.ts";
import { readConfig } from "./session.ts";

const flags = {
  config: { type: "string" },
  port: { type: "string" },
  "no-browser": { type: "boolean" },
} as const;

/** `toolgate auth`: signs a person in to an upstream that wants OAuth. */
export async function auth(argv: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseFlags(argv, flags, 1);
  const port = values.port === undefined ? undefined : readPort(values.port);
  const [name] = positionals;
  if (name === undefined) throw new UsageError("Name the server to sign in to, as the configuration does.");
  const { config } = await readConfig(io, values.config);
  const upstream = findUpstream(config, name);
  const cancellation = new Cancellation();
  const interrupted = new Promise<number>((resolve) => {
    cancellation.onCancel(() => resolve(exitCodes.interrupted));
  });
  const stopListening = io.onInterrupt(() => cancellation.cancel("interrupted"));
  const signedIn = signIn(upstream, { io, cancellation, port, browser: !values["no-browser"] });
  return Promise.race([signedIn, interrupted]).finally(stopListening);
}

interface SigningIn {
  readonly io: Io;
  readonly cancellation: Cancellation;
  readonly port: number | undefined;
  readonly browser: boolean;
}

async function signIn(upstream: HttpUpstreamConfig, signingIn: SigningIn): Promise<number> {
  const { io, cancellation, port, browser } = signingIn;
  const style = styleOf(io.stdout, io.env);
  const say = (line: string): void => writeLine(io.stdout, line);
  const signedIn = io.signIn(upstream, {
    env: io.env,
    log: createLog(io, "warning"),
    cancellation,
    browser,
    ...(port !== undefined && { port }),
    onAddress(address, redirectUrl) {
      say(`Sign in to "${upstream.namespace}" in a browser on this machine:\n`);
      say(`  ${style.bold(address.href)}\n`);
      say(style.dim(`It then comes back to ${redirectUrl}. Ctrl-C gives up.`));
    },
  });
  const place = await signedIn.catch((error: Error) => {
    // Servers have written parts of it.
    throw new Error(oneLine(error.message), { cause: error });
  });
  if (place === undefined) say(`"${upstream.namespace}" wants no sign-in.`);
  else
    say(
      `${style.green("Signed in")} to "${upstream.namespace}". The tokens are in ${place}, for this user only.`,
    );
  return exitCodes.done;
}

function findUpstream({ upstreams }: GatewayConfig, name: string): HttpUpstreamConfig {
  const found = upstreams.find(({ key, namespace }) => key === name || namespace === name);
  if (!found) {
    const names = upstreams.map(({ namespace }) => namespace);
    throw new UsageError(`There is no server "${name}" in the configuration.${didYouMean(name, names)}`);
  }
  if (found.kind === "broken") throw new RefusedError(`"${name}" cannot be used: ${found.reason}`);
  if (found.kind !== "http")
    throw new RefusedError(`"${name}" is not reached over HTTP: there is no sign-in.`);
  if (hasAuthorization(found))
    throw new RefusedError(
      `"${name}" has an "Authorization" in its "headers", which is sent instead of tokens. Remove it to sign in.`,
    );
  return found;
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new UsageError(`--port ${text}: a port is a number from 1 to 65535.`);
}
