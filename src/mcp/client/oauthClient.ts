import type { OAuthClientMetadata, StoredOAuthClientInformation } from "@modelcontextprotocol/client";
import type { Grant, OAuthClientConfig } from "./oauthGrant.ts";
import type { AuthorizationServer } from "./oauthServer.ts";

/** How this client registers itself (RFC 7591; specification 2026-07-28, basic/authorization/client-registration). */
export function clientMetadata(server: AuthorizationServer, redirectUrl: string): OAuthClientMetadata {
  const methods = server.info.authorizationServerMetadata?.token_endpoint_auth_methods_supported;
  return {
    client_name: "Toolgate",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    application_type: "native",
    // A program on a person's machine has nobody to keep a secret from: it takes one only where it must.
    ...(methods?.includes("none") && { token_endpoint_auth_method: "none" }),
  };
}

export interface KnownClient {
  readonly client: OAuthClientConfig;
  readonly previous: Grant | undefined;
  readonly server: AuthorizationServer;
  readonly redirectUrl: string;
  /** Where grants are kept, for a person. */
  readonly place: string;
}

/**
 * The client, if it needs no registration: the configured one, or the one that was registered before with the same
 * way back. Throws where there is none and none can be registered, and where the configured one belongs to another
 * authorization server.
 */
export function knownClient(known: KnownClient): StoredOAuthClientInformation | undefined {
  const { client, previous, server, redirectUrl, place } = known;
  const { issuer } = server;
  if (client.clientId !== undefined) {
    if (previous?.client.client_id === client.clientId && previous.issuer !== issuer)
      throw new Error(
        `the configured client belongs to ${previous.issuer}. If it is registered here too, remove ${place} and try again`,
      );
    return { ...configuredClient(client.clientId, client), issuer };
  }
  // Where tokens have ceased to work, the client may be why.
  const fits = previous?.tokens && previous.issuer === issuer && previous.redirectUrl === redirectUrl;
  if (fits && client.clientMetadataUrl === undefined) return previous.client;
  if (canRegister(server, client)) return undefined;
  throw new Error(
    `it registers no clients by itself. Register one there with the redirect URI ${redirectUrl}, and set "oauth": {"clientId": ...} of this server`,
  );
}

/** The client to which a grant was given, with its secret; undefined if the configuration names another one. */
export function clientOf({ client: given }: Grant, client: OAuthClientConfig): Grant["client"] | undefined {
  if (client.clientId === undefined) return given;
  if (client.clientId !== given.client_id) return undefined;
  return { ...given, ...configuredClient(client.clientId, client) };
}

function configuredClient(
  clientId: string,
  { clientSecret }: OAuthClientConfig,
): StoredOAuthClientInformation {
  return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
}

/** Without metadata the registration endpoint is where revision 2025-03-26 has it. */
function canRegister({ info }: AuthorizationServer, { clientMetadataUrl }: OAuthClientConfig): boolean {
  const metadata = info.authorizationServerMetadata;
  if (!metadata || metadata.registration_endpoint !== undefined) return true;
  return clientMetadataUrl !== undefined && metadata.client_id_metadata_document_supported === true;
}
