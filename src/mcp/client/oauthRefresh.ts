import type { FetchLike } from "@modelcontextprotocol/client";
import { clientOf } from "./oauthClient.ts";
import { oauthReason } from "./oauthFailure.ts";
import { tokensOf, type Grant, type OAuthClientConfig } from "./oauthGrant.ts";
import { discover, type OAuthSdk, type Wanted } from "./oauthServer.ts";

export interface Refresh {
  readonly sdk: OAuthSdk;
  readonly fetch: FetchLike;
  /** The MCP server. */
  readonly url: string;
  readonly client: OAuthClientConfig;
  readonly grant: Grant;
  readonly wanted: Wanted;
}

/** RFC 6749, section 5.2: the same would be refused again. */
const final = ["invalid_grant", "invalid_client", "unauthorized_client"];

/**
 * The grant with new tokens, or without any where the authorization server does not take the old ones any more.
 * Undefined where there is nothing to refresh, or it belongs to another client or authorization server. Rejects
 * with an `Error` for a person if it may work later.
 */
export async function refresh(ask: Refresh): Promise<Grant | undefined> {
  const { sdk, fetch, url, grant, wanted } = ask;
  const client = clientOf(grant, ask.client);
  const refreshToken = grant.tokens?.refresh;
  if (!client || refreshToken === undefined) return undefined;
  const { issuer, info, resource } = await discover({ sdk, url, fetch, ...wanted });
  if (issuer !== grant.issuer) return undefined;
  try {
    const tokens = await sdk.refreshAuthorization(info.authorizationServerUrl, {
      clientInformation: client,
      refreshToken,
      fetchFn: fetch,
      ...(info.authorizationServerMetadata && { metadata: info.authorizationServerMetadata }),
      ...(resource !== undefined && { resource }),
    });
    return { ...grant, tokens: tokensOf(tokens) };
  } catch (error) {
    const { tokens: _, ...rest } = grant;
    if (error instanceof sdk.OAuthError && final.includes(error.code)) return rest;
    const reason = oauthReason(sdk, error, [refreshToken, client.client_secret]);
    throw new Error(`its token could not be refreshed at ${issuer}: ${reason}`, { cause: error });
  }
}
