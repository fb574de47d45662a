import type * as Sdk from "@modelcontextprotocol/client";
import type { FetchLike, OAuthServerInfo } from "@modelcontextprotocol/client";
import { oauthReason } from "./oauthFailure.ts";
import type { Challenge } from "../../transports/http/credentials.ts";

/** The official SDK. Loaded when it is needed: few servers want OAuth, and it takes a while. */
export type OAuthSdk = typeof Sdk;

export async function loadSdk(): Promise<OAuthSdk> {
  return import("@modelcontextprotocol/client");
}

/** What a refusal asks for. */
export interface Wanted {
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
}

export function wantedBy(sdk: OAuthSdk, { status, wwwAuthenticate }: Challenge): Wanted {
  const headers = wwwAuthenticate === undefined ? undefined : { "www-authenticate": wwwAuthenticate };
  const { resourceMetadataUrl, scope } = sdk.extractWWWAuthenticateParams(
    new Response(null, { status, ...(headers && { headers }) }),
  );
  return { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) };
}

/** Who gives out tokens for a server. */
export interface AuthorizationServer {
  readonly issuer: string;
  /** The validated metadata. */
  readonly info: OAuthServerInfo;
  /** RFC 8707: what tokens are to be for. */
  readonly resource?: string;
}

export interface Discovery extends Pick<Wanted, "resourceMetadataUrl"> {
  readonly sdk: OAuthSdk;
  readonly url: string;
  readonly fetch: FetchLike;
}

/**
 * Finds it (specification 2026-07-28, basic/authorization/authorization-server-discovery). Rejects where the resource
 * is another one, or where its metadata do not say that it supports PKCE (security-considerations, Authorization
 * Code Protection).
 */
export async function discover(ask: Discovery): Promise<AuthorizationServer> {
  try {
    return await find(ask);
  } catch (error) {
    const reason = oauthReason(ask.sdk, error);
    throw new Error(`its authorization server cannot be used: ${reason}`, { cause: error });
  }
}

async function find({ sdk, url, resourceMetadataUrl, fetch }: Discovery): Promise<AuthorizationServer> {
  const info = await sdk.discoverOAuthServerInfo(url, {
    fetchFn: fetch,
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
  });
  const { authorizationServerMetadata: metadata, authorizationServerUrl, resourceMetadata } = info;
  const resource = resourceMetadata?.resource;
  const requestedResource = sdk.resourceUrlFromServerUrl(url);
  if (
    resource !== undefined &&
    !sdk.checkResourceAllowed({ requestedResource, configuredResource: resource })
  )
    throw new Error(`what the server says of itself is about another resource, ${resource}`);
  const issuer = metadata?.issuer ?? authorizationServerUrl;
  if (metadata && metadata.code_challenge_methods_supported === undefined)
    throw new Error(`${issuer} does not say that it supports PKCE, without which MCP allows no sign-in`);
  return { issuer, info, ...(resource !== undefined && { resource }) };
}
