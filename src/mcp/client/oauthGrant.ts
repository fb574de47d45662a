import type { OAuthTokens, StoredOAuthClientInformation } from "@modelcontextprotocol/client";

/** What one sign-in gave, as JSON that can be kept. */
export interface Grant {
  /**
   * Of the authorization server, as its metadata has it: nothing in here is sent to another one (specification
   * 2026-07-28, basic/authorization/client-registration, Authorization Server Binding).
   */
  readonly issuer: string;
  /** As the authorization server knows this client. A secret that the configuration has is not repeated here. */
  readonly client: StoredOAuthClientInformation;
  /** Where the browser came back to; registered with the client. */
  readonly redirectUrl: string;
  /** All scopes that were asked for, separated by spaces. */
  readonly scope?: string;
  /** Scopes that calls turned out to need since; the next sign-in asks for them as well. */
  readonly wanted?: string;
  /** Absent: they do not work any more. */
  readonly tokens?: Tokens;
}

export interface Tokens {
  readonly access: string;
  readonly refresh?: string;
}

export function tokensOf({ access_token, refresh_token }: OAuthTokens): Tokens {
  return { access: access_token, ...(refresh_token !== undefined && { refresh: refresh_token }) };
}

/** Keeps the grant for one server. Its methods reject with an `Error` for a person. */
export interface GrantStore {
  /** Where, for a person. */
  readonly place: string;
  load(): Promise<Grant | undefined>;
  /**
   * Replaces the grant by what `change` makes of it, while nobody else replaces it, and resolves with what is kept
   * then. The same object, or undefined, leaves it as it is; so does a rejection, which passes.
   */
  update(change: (now: Grant | undefined) => Promise<Grant | undefined>): Promise<Grant | undefined>;
}

/** A person's consent, by way of a browser. */
export interface Consent {
  /** Opens the way back, at `registered` if that can be. */
  open(registered: string | undefined): Promise<ConsentPage>;
}

export interface ConsentPage {
  /** Where the browser is to come back to. */
  readonly redirectUrl: string;
  /**
   * Shows the address to the person. Resolves with the parameters with which the browser comes back, of those that
   * have the `state` of the address; rejects with an `Error` for a person.
   */
  ask(address: URL): Promise<URLSearchParams>;
  close(): Promise<void>;
}

/** What an entry of the configuration says of the client. All of it may be absent. */
export interface OAuthClientConfig {
  /** Of a client that was registered by hand. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** https: a Client ID Metadata Document, for authorization servers that read one. */
  readonly clientMetadataUrl?: string;
  /** Asked for beside what the server says it needs; separated by spaces. */
  readonly scope?: string;
}
