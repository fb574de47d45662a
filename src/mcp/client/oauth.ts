import type { FetchLike } from "@modelcontextprotocol/client";
import type { Clock } from "../../core/effects.ts";
import { systemClock } from "../../core/systemClock.ts";
import type { Challenge, Credentials } from "../../transports/http/credentials.ts";
import { authorize } from "./oauthAuthorize.ts";
import { boundedFetch } from "./oauthFetch.ts";
import type { Consent, Grant, GrantStore, OAuthClientConfig, Tokens } from "./oauthGrant.ts";
import { refresh } from "./oauthRefresh.ts";
import { discover, loadSdk, wantedBy, type OAuthSdk, type Wanted } from "./oauthServer.ts";

export type { Consent, ConsentPage, Grant, GrantStore, OAuthClientConfig } from "./oauthGrant.ts";

export interface OAuthOptions {
  /** The MCP endpoint: the resource that tokens are for. */
  readonly url: string;
  readonly store: GrantStore;
  readonly client?: OAuthClientConfig;
  /** Absent: nobody is there to sign in. */
  readonly consent?: Consent;
  /** What a person is to do who is not there, as a sentence: "Run ...". */
  readonly advice: string;
  /** Default: the runtime's. */
  readonly fetch?: FetchLike;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/**
 * OAuth tokens for one server: used, refreshed, and asked for where a person is there (specification 2026-07-28,
 * basic/authorization). The store is read once, and again whenever the server refuses: another process may have
 * signed in meanwhile. The protocol is the official SDK's work.
 */
export class OAuthCredentials implements Credentials {
  readonly #options: OAuthOptions;
  readonly #client: OAuthClientConfig;
  readonly #fetch: FetchLike;
  #grant: Promise<Grant | undefined> | undefined;
  #renewal: Promise<boolean> | undefined;

  constructor(options: OAuthOptions) {
    const { url, client = {}, fetch = globalThis.fetch, clock = systemClock } = options;
    this.#options = options;
    this.#client = client;
    this.#fetch = boundedFetch({ fetch, clock, server: new URL(url) });
  }

  async headers(): Promise<Readonly<Record<string, string>>> {
    const grant = await (this.#grant ??= this.#load());
    return grant?.tokens ? { authorization: `Bearer ${grant.tokens.access}` } : {};
  }

  /** Requests that are refused at the same time share one renewal. */
  async refused(challenge: Challenge): Promise<boolean> {
    const { sent } = challenge;
    if (sent && sent["authorization"] !== (await this.headers())["authorization"]) return true;
    return (this.#renewal ??= this.#renew(challenge).finally(() => (this.#renewal = undefined)));
  }

  /** Signs in, whatever there is already. Rejects as `refused` does. */
  async signIn(challenge: Challenge): Promise<void> {
    const sdk = await loadSdk();
    await this.#authorize(sdk, wantedBy(sdk, challenge));
  }

  async #renew(challenge: Challenge): Promise<boolean> {
    const used = (await this.#grant)?.tokens;
    const stored = await (this.#grant = this.#load());
    if (stored?.tokens && stored.tokens.access !== used?.access) return true;
    if (!stored?.tokens && !this.#options.consent) throw this.#needsPerson("it wants somebody to sign in");
    const sdk = await loadSdk();
    const wanted = wantedBy(sdk, challenge);
    if (challenge.status === 403) await this.#stepUp(sdk, stored, wanted);
    else if (!(await this.#refresh(sdk, used, wanted))) await this.#authorize(sdk, wanted);
    return true;
  }

  /** A refresh gives no more than there was (RFC 6749, section 6). */
  async #stepUp(sdk: OAuthSdk, grant: Grant | undefined, wanted: Wanted): Promise<void> {
    const { store, consent } = this.#options;
    if (!sdk.isStrictScopeSuperset(wanted.scope, grant?.scope))
      throw new Error(
        `it wants a scope, ${wanted.scope ?? "and does not say which"}, that the sign-in has asked for and that seems not to have been granted`,
      );
    if (consent) return this.#authorize(sdk, wanted);
    await store.update(
      async (now) => now && { ...now, wanted: sdk.computeScopeUnion(now.wanted, wanted.scope)! },
    );
    throw this.#needsPerson(`it wants one more scope, ${wanted.scope}`);
  }

  /** False where only a new sign-in helps. */
  async #refresh(sdk: OAuthSdk, used: Tokens | undefined, wanted: Wanted): Promise<boolean> {
    const common = { sdk, wanted, client: this.#client, fetch: this.#fetch, url: this.#options.url };
    const grant = await this.#options.store.update(async (now) => {
      // Otherwise another process was faster.
      const same = now?.tokens && now.tokens.access === used?.access;
      return same ? refresh({ ...common, grant: now }) : now;
    });
    this.#grant = Promise.resolve(grant);
    return grant?.tokens !== undefined && grant.tokens.access !== used?.access;
  }

  async #authorize(sdk: OAuthSdk, wanted: Wanted): Promise<void> {
    const { consent, store, url } = this.#options;
    if (!consent) throw this.#needsPerson("its sign-in has ended");
    const common = { sdk, url, fetch: this.#fetch };
    const server = await discover({ ...common, ...wanted });
    const previous = await store.load();
    const before =
      previous?.issuer === server.issuer ? sdk.computeScopeUnion(previous.scope, previous.wanted) : undefined;
    const asked =
      wanted.scope ?? this.#client.scope ?? server.info.resourceMetadata?.scopes_supported?.join(" ");
    const scope = sdk.computeScopeUnion(before, this.#client.scope, asked);
    const authorization = {
      ...common,
      server,
      consent,
      previous,
      scope,
      client: this.#client,
      place: store.place,
    };
    const grant = await authorize(authorization);
    this.#grant = store.update(async () => grant);
    await this.#grant;
  }

  async #load(): Promise<Grant | undefined> {
    try {
      return await this.#options.store.load();
    } catch (error) {
      this.#grant = undefined;
      throw error;
    }
  }

  #needsPerson(what: string): Error {
    return new Error(`${what}. ${this.#options.advice}`);
  }
}
