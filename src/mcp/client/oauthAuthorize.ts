import { randomBytes } from "node:crypto";
import type {
  FetchLike,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { clientMetadata, knownClient } from "./oauthClient.ts";
import { oauthReason } from "./oauthFailure.ts";
import { isSecure } from "./oauthFetch.ts";
import {
  tokensOf,
  type Consent,
  type ConsentPage,
  type Grant,
  type OAuthClientConfig,
} from "./oauthGrant.ts";
import type { AuthorizationServer, OAuthSdk } from "./oauthServer.ts";

export interface Authorization {
  readonly sdk: OAuthSdk;
  readonly fetch: FetchLike;
  /** The MCP server. */
  readonly url: string;
  readonly server: AuthorizationServer;
  readonly client: OAuthClientConfig;
  readonly consent: Consent;
  /** The last one, of whichever authorization server. */
  readonly previous: Grant | undefined;
  /** Where grants are kept, for a person. */
  readonly place: string;
  /** Absent: the server's own list of scopes, if it has one. */
  readonly scope: string | undefined;
}

/**
 * Signs a person in (specification 2026-07-28, basic/authorization, Authorization Flow Steps): registration, consent,
 * exchange. Rejects with an `Error` for a person.
 */
export async function authorize(ask: Authorization): Promise<Grant> {
  const { sdk, url, server, consent, scope, fetch } = ask;
  const page = await consent.open(ask.previous?.redirectUrl);
  const flow = new Flow(ask, page);
  const options = { serverUrl: url, fetchFn: fetch, ...(scope !== undefined && { scope }) };
  try {
    await sdk.auth(flow, { ...options, forceReauthorization: true });
    const { code, iss } = codeIn(flow.answer, ask);
    await sdk.auth(flow, { ...options, authorizationCode: code, ...(iss !== undefined && { iss }) });
    return flow.grant();
  } catch (error) {
    throw new Error(
      `the sign-in at ${server.issuer} failed: ${oauthReason(sdk, error, flow.secrets(ask.client))}`,
      { cause: error },
    );
  } finally {
    await page.close();
  }
}

/** The code of an answer. Its issuer is checked first: what an attacker has written is not even shown (RFC 9207, section 2.4). */
function codeIn(answer: URLSearchParams, { sdk, server }: Authorization): { code: string; iss?: string } {
  const iss = answer.get("iss") ?? undefined;
  const metadata = server.info.authorizationServerMetadata;
  sdk.validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: metadata?.issuer,
    issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
  });
  const error = answer.get("error");
  if (error !== null) throw new sdk.OAuthError(error, answer.get("error_description") ?? error);
  const code = answer.get("code");
  if (code === null || code === "") throw new Error("its answer has neither a code nor an error");
  return { code, ...(iss !== undefined && { iss }) };
}

/** One sign-in, as the SDK asks for it: it holds what must not outlive it. */
class Flow implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadata: OAuthClientMetadata;
  readonly clientMetadataUrl?: string;
  readonly #ask: Authorization;
  readonly #page: ConsentPage;
  readonly #state = randomBytes(32).toString("base64url");
  /** The parameters that the browser came back with. */
  answer = new URLSearchParams();
  #client: StoredOAuthClientInformation | undefined;
  #verifier = "";
  #scope: string | undefined;
  #tokens: StoredOAuthTokens | undefined;

  constructor(ask: Authorization, page: ConsentPage) {
    this.#ask = ask;
    this.#page = page;
    this.redirectUrl = page.redirectUrl;
    this.clientMetadata = clientMetadata(ask.server, page.redirectUrl);
    if (ask.client.clientMetadataUrl !== undefined) this.clientMetadataUrl = ask.client.clientMetadataUrl;
  }

  state(): string {
    return this.#state;
  }

  discoveryState(): OAuthDiscoveryState {
    return this.#ask.server.info;
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return (this.#client ??= knownClient({ ...this.#ask, redirectUrl: this.redirectUrl }));
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client;
  }

  /** Never asked for: this is a new authorization. */
  tokens(): undefined {
    return undefined;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  async redirectToAuthorization(address: URL): Promise<void> {
    if (!isSecure(address)) throw new Error(`its page for signing in, ${address.origin}, is not https`);
    this.#scope = address.searchParams.get("scope") ?? undefined;
    this.answer = await this.#page.ask(address);
    if (this.answer.get("state") !== this.#state) throw new Error("its answer has another state");
  }

  grant(): Grant {
    const { client, server } = this.#ask;
    const { client_secret: secret, ...known } = this.#client!;
    const own = client.clientId === undefined && secret !== undefined;
    return {
      issuer: server.issuer,
      client: own ? { ...known, client_secret: secret } : known,
      redirectUrl: this.redirectUrl,
      ...(this.#scope !== undefined && { scope: this.#scope }),
      tokens: tokensOf(this.#tokens!),
    };
  }

  secrets({ clientSecret }: OAuthClientConfig): (string | undefined)[] {
    return [clientSecret, this.#client?.client_secret, this.#verifier, this.answer.get("code") ?? undefined];
  }
}
