import { load } from "./dist.mjs";

const { OAuthCredentials } = await load("mcp/client/oauth.js");

/** The suite knows what this document would say. It is nowhere. */
const clientMetadataUrl = "https://conformance-test.local/client-metadata.json";

/** OAuth as the gateway does it, with a person who always agrees. The scenario may name a client that is registered by hand. */
export async function credentialsFor(url, { client_id: clientId, client_secret: clientSecret }) {
  return new OAuthCredentials({
    url,
    store: memory(),
    client: clientId === undefined ? { clientMetadataUrl } : { clientId, clientSecret },
    consent: {
      open: async () => ({
        redirectUrl: "http://127.0.0.1:3000/callback",
        ask: follow,
        close: async () => {},
      }),
    },
    advice: "Sign in.",
  });
}

/** What a browser does with a page that asks nothing. */
async function follow(address) {
  const response = await fetch(address, { redirect: "manual" });
  return new URL(response.headers.get("location")).searchParams;
}

function memory() {
  let grant;
  return {
    place: "memory",
    load: async () => grant,
    update: async (change) => {
      const after = await change(grant);
      return (grant = after ?? grant);
    },
  };
}
