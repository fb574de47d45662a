/** Credentials that change: OAuth tokens (specification 2026-07-28, basic/authorization). */
export interface Credentials {
  /** Headers for the next request, none where there is no token yet. Names are lower-case. */
  headers(): Promise<Readonly<Record<string, string>>>;
  /**
   * The server refused: 401, or 403 whose `WWW-Authenticate` says `insufficient_scope`. True if another try makes
   * sense now: tokens were refreshed or obtained. Rejects with an `Error` for a person.
   */
  refused(challenge: Challenge): Promise<boolean>;
}

export interface Challenge {
  /** 401 or 403. */
  readonly status: number;
  /** The header of that name (RFC 9110, section 11.6.1). */
  readonly wwwAuthenticate: string | undefined;
  /** What `headers()` had given for the request. If that is not what it gives now, nothing is renewed for it. */
  readonly sent?: Readonly<Record<string, string>>;
}
