import type { Cancellation } from "../core/cancellation.ts";
import type { Clock, Log } from "../core/effects.ts";
import { systemClock } from "../core/systemClock.ts";
import { connectUpstream } from "../mcp/client/connect.ts";
import { OAuthCredentials, type Consent } from "../mcp/client/oauth.ts";
import type { Challenge, Credentials } from "../transports/http/credentials.ts";
import { dialHttp } from "../transports/http/dial.ts";
import { listenForRedirect, type RedirectListener } from "../transports/http/redirectListener.ts";
import { openBrowser } from "../transports/process/openBrowser.ts";
import { TokenError } from "./token.ts";
import { TokenStore } from "./tokenStore.ts";
import type { HttpUpstreamConfig } from "./types.ts";
import { readVersion } from "./version.ts";

export interface OAuthEffects {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/**
 * The tokens for one upstream, as `toolgate auth` has kept them. Undefined where its `headers` name an `Authorization`
 * of its own, and for a user who has no place to keep tokens. One for each upstream: it refreshes for all connections.
 */
export function credentialsFor(upstream: HttpUpstreamConfig, effects: OAuthEffects): Credentials | undefined {
  if (hasAuthorization(upstream)) return undefined;
  try {
    return credentials(upstream, effects).credentials;
  } catch (error) {
    if (error instanceof TokenError) return undefined;
    throw error;
  }
}

/** True if the configuration says itself what to send. */
export function hasAuthorization({ headers }: HttpUpstreamConfig): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}

export interface SignInOptions extends OAuthEffects {
  /** Where the browser is to come back to on this machine. Default: as at the last sign-in, else any free one. */
  readonly port?: number;
  /** Open the page as well as tell its address. */
  readonly browser: boolean;
  readonly cancellation: Cancellation;
  /** A person is to open this address; the browser then comes back to `redirectUrl`. */
  onAddress(address: URL, redirectUrl: string): void;
}

/**
 * Has a person sign in to an upstream and keeps the tokens. Resolves with the file that holds them, or undefined if
 * the server wants no sign-in. Rejects with an `Error` for a person.
 */
export type SignIn = (upstream: HttpUpstreamConfig, options: SignInOptions) => Promise<string | undefined>;

export const signIn: SignIn = async (upstream, options) => {
  const challenge = await challengeOf(upstream, options);
  if (!challenge) return undefined;
  const { credentials: own, store } = credentials(upstream, options, consentOf(options));
  try {
    await own.signIn(challenge);
  } catch (error) {
    throw new Error(`Upstream "${upstream.namespace}": ${(error as Error).message}`, { cause: error });
  }
  return store.place;
};

function credentials(
  { namespace, url, oauth }: HttpUpstreamConfig,
  { env, log, clock = systemClock }: OAuthEffects,
  consent?: Consent,
): { credentials: OAuthCredentials; store: TokenStore } {
  const store = new TokenStore({ env, namespace, url, log });
  const own = new OAuthCredentials({
    url,
    store,
    clock,
    advice: `Run "toolgate auth ${namespace}"; where it takes a fixed token, set that in "headers" instead.`,
    ...(oauth && { client: oauth }),
    ...(consent && { consent }),
  });
  return { credentials: own, store };
}

/** What the server answers to somebody unknown; undefined if it serves them. Some only refuse what comes after the handshake. */
async function challengeOf(
  upstream: HttpUpstreamConfig,
  options: SignInOptions,
): Promise<Challenge | undefined> {
  const { namespace, url, headers, sse } = upstream;
  const { log, cancellation, clock = systemClock } = options;
  const challenges: Challenge[] = [];
  const nobody: Credentials = {
    headers: async () => ({}),
    async refused(challenge) {
      challenges.push(challenge);
      return false;
    },
  };
  try {
    const connection = await connectUpstream({
      namespace,
      dial: dialHttp({ url, headers, credentials: nobody, clock, ...(sse !== undefined && { sse }) }),
      clock,
      log,
      clientInfo: { name: "toolgate", version: readVersion() },
      cancellation,
    });
    try {
      await connection.list("tools");
    } finally {
      await connection.close();
    }
  } catch (error) {
    if (challenges.length === 0) throw error;
  }
  return challenges[0];
}

/** How long a person has in the browser. */
const consentMs = 5 * 60_000;

function consentOf({
  port,
  browser,
  env,
  cancellation,
  clock = systemClock,
  onAddress,
}: SignInOptions): Consent {
  return {
    async open(registered) {
      const listener = await listen(port, registered);
      return {
        redirectUrl: listener.redirectUrl,
        async ask(address) {
          const answer = listener.answer(address.searchParams.get("state") ?? "");
          onAddress(address, listener.redirectUrl);
          if (browser) await openBrowser(address, { env });
          return inTime(answer, clock, cancellation);
        },
        close: () => listener.close(),
      };
    },
  };
}

/** At the port that is asked for; else where the client is registered, if nobody else is there now. */
async function listen(port: number | undefined, registered: string | undefined): Promise<RedirectListener> {
  if (port !== undefined) return listenForRedirect(port);
  const known = registered === undefined ? 0 : Number(new URL(registered).port);
  try {
    return await listenForRedirect(known);
  } catch (error) {
    if (known === 0) throw error;
    return listenForRedirect(0);
  }
}

function inTime<T>(answer: Promise<T>, clock: Clock, cancellation: Cancellation): Promise<T> {
  let stopWaiting = (): void => {};
  const over = new Promise<never>((_, reject) => {
    const late = `no answer came from the browser within ${consentMs / 60_000} minutes`;
    const timer = clock.timer(() => reject(new Error(late)), consentMs);
    const stop = cancellation.onCancel(() => reject(new Error("it was interrupted")));
    stopWaiting = () => {
      timer.stop();
      stop();
    };
  });
  return Promise.race([answer, over]).finally(() => stopWaiting());
}
