import { expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fakeClock.ts";
import {
  FakeOAuth,
  issuer,
  MemoryGrants,
  serverUrl,
  type FakeOAuthOptions,
} from "../../../test/support/fakeOAuth.ts";
import { OAuthCredentials, type Consent, type Grant, type OAuthClientConfig } from "./oauth.ts";

interface SignIn extends FakeOAuthOptions {
  readonly client?: OAuthClientConfig;
  readonly grant?: Grant;
  readonly wwwAuthenticate?: string;
  consent?(server: FakeOAuth): Consent;
}

/** Signs in once. `failure` is what the person reads if it fails. */
async function signIn({ client, grant, wwwAuthenticate, consent, ...options }: SignIn = {}) {
  const server = new FakeOAuth(options);
  const store = new MemoryGrants(grant);
  const asked: URL[] = [];
  const credentials = new OAuthCredentials({
    url: options.server ?? serverUrl,
    store,
    advice: "Sign in.",
    fetch: server.fetch,
    clock: new FakeClock(),
    consent: consent?.(server) ?? server.consent(asked),
    ...(client && { client }),
  });
  const failure = await credentials.signIn({ status: 401, wwwAuthenticate }).then(
    () => undefined,
    (error: Error) => error.message,
  );
  return { server, grant: store.grant, asked: asked[0]?.searchParams, failure, credentials };
}

test("signing in registers a client, asks a person, and keeps the tokens with whom they are from", async () => {
  const { server, grant, asked, failure } = await signIn();
  expect(failure).toBeUndefined();
  expect(server.registrations).toEqual([
    {
      client_name: "Toolgate",
      redirect_uris: ["http://127.0.0.1:1/callback"],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      application_type: "native",
      token_endpoint_auth_method: "none",
    },
  ]);
  expect(Object.fromEntries(asked!)).toMatchObject({
    response_type: "code",
    client_id: "client-1",
    code_challenge_method: "S256",
    redirect_uri: "http://127.0.0.1:1/callback",
    resource: serverUrl,
  });
  expect(asked!.get("state")).toMatch(/^[\w-]{43}$/);
  expect(server.forms[0]?.get("resource")).toBe(serverUrl);
  expect(grant).toMatchObject({
    issuer,
    client: { client_id: "client-1", issuer },
    redirectUrl: "http://127.0.0.1:1/callback",
    tokens: { access: "access-1", refresh: "refresh-1" },
  });
});

test("the next sign-in is as the same client, where the browser can come back to the same place", async () => {
  const { grant } = await signIn();
  const again = await signIn({ grant: grant! });
  expect(again.server.registrations).toEqual([]);
  expect(again.asked?.get("client_id")).toBe("client-1");
  const elsewhere = await signIn({
    grant: grant!,
    consent: (server) => ({ open: () => server.consent([], "http://127.0.0.1:2/callback").open(undefined) }),
  });
  expect(elsewhere.server.registrations).toHaveLength(1);
  expect(elsewhere.grant?.redirectUrl).toBe("http://127.0.0.1:2/callback");
});

test("at another authorization server it is another client, with that server's scopes", async () => {
  const { grant } = await signIn({ wwwAuthenticate: 'Bearer scope="old"' });
  const moved = await signIn({ grant: grant!, issuer: "https://new.example" });
  expect(moved.server.registrations).toHaveLength(1);
  expect(moved.asked?.has("scope")).toBe(false);
  expect(moved.grant?.issuer).toBe("https://new.example");
});

test.each<[string, SignIn, string | null]>([
  ["none where nobody names one", {}, null],
  [
    "the challenge's",
    { wwwAuthenticate: 'Bearer scope="a b"', resource: { scopes_supported: ["c"] } },
    "a b",
  ],
  ["the resource's", { resource: { scopes_supported: ["c", "d"] } }, "c d"],
  ["the configuration's", { client: { scope: "e" }, resource: { scopes_supported: ["c"] } }, "e"],
  ["both", { client: { scope: "e" }, wwwAuthenticate: 'Bearer scope="a"' }, "e a"],
  [
    "offline_access where it is offered",
    { wwwAuthenticate: 'Bearer scope="a"', metadata: { scopes_supported: ["a", "offline_access"] } },
    "a offline_access",
  ],
])("the scope: %s", async (_, options, scope) => {
  const { asked, grant } = await signIn(options);
  expect(asked?.get("scope") ?? null).toBe(scope);
  expect(grant?.scope ?? null).toBe(scope);
});

test("a client registered by hand signs in as itself, and its secret is not kept", async () => {
  const { server, asked, grant } = await signIn({
    client: { clientId: "by-hand", clientSecret: "hush" },
    metadata: {
      registration_endpoint: undefined,
      token_endpoint_auth_methods_supported: ["client_secret_post"],
    },
  });
  expect(asked?.get("client_id")).toBe("by-hand");
  expect(server.forms[0]?.get("client_secret")).toBe("hush");
  expect(grant?.client).toEqual({ client_id: "by-hand", issuer });
});

test("a client registered by hand is not shown to another authorization server than before", async () => {
  const client = { clientId: "by-hand" };
  const { grant } = await signIn({ client });
  const moved = await signIn({ client, grant: grant!, issuer: "https://new.example" });
  expect(moved.failure).toBe(
    "the sign-in at https://new.example failed: the configured client belongs to https://auth.example. " +
      "If it is registered here too, remove /state/oauth/it.json and try again",
  );
  expect(moved.asked).toBeUndefined();
  expect(moved.grant).toEqual(grant);
});

test("a client metadata document is the client's name where that is supported, else it registers", async () => {
  const client = { clientMetadataUrl: "https://me.example/client.json" };
  const metadata = { client_id_metadata_document_supported: true, registration_endpoint: undefined };
  const supported = await signIn({ client, metadata });
  expect(supported.asked?.get("client_id")).toBe("https://me.example/client.json");
  expect(supported.server.registrations).toEqual([]);
  expect((await signIn({ client })).server.registrations).toHaveLength(1);
});

test("a secret that the authorization server gives is kept, and sent to it alone", async () => {
  const { server, grant } = await signIn({
    metadata: { token_endpoint_auth_methods_supported: ["client_secret_post"] },
    grant: {
      issuer,
      client: { client_id: "c", client_secret: "hush", issuer },
      redirectUrl: "http://127.0.0.1:1/callback",
      tokens: { access: "old" },
    },
  });
  expect(server.forms[0]?.get("client_secret")).toBe("hush");
  expect(grant?.client).toEqual({ client_id: "c", client_secret: "hush", issuer });
});

test("where no client can be registered, it says what to configure", async () => {
  const { failure } = await signIn({ metadata: { registration_endpoint: undefined } });
  expect(failure).toBe(
    "the sign-in at https://auth.example failed: it registers no clients by itself. Register one there with the " +
      'redirect URI http://127.0.0.1:1/callback, and set "oauth": {"clientId": ...} of this server',
  );
});

test.each<[string, SignIn, string]>([
  [
    "another issuer",
    { redirect: { iss: "https://evil.example", error: "x", error_description: "evil words", code: null } },
    'Issuer mismatch in authorization response (RFC 9207): expected "https://auth.example", received "https://evil.example"',
  ],
  ["no issuer", { redirect: { iss: null } }, "Issuer mismatch in authorization response"],
  ["another state", { redirect: { state: "guessed" } }, "its answer has another state"],
  [
    "a refusal",
    { redirect: { code: null, error: "access_denied", error_description: "The person said\nno" } },
    "access_denied: The person said no",
  ],
  ["neither", { redirect: { code: "" } }, "its answer has neither a code nor an error"],
])("an answer with %s is refused before any token is asked for", async (_, options, message) => {
  const { failure, server, grant } = await signIn(options);
  expect(failure).toContain(`the sign-in at https://auth.example failed: ${message}`);
  expect(failure).not.toContain("evil words");
  expect(server.forms).toEqual([]);
  expect(grant).toBeUndefined();
});

test("an authorization server that sends no issuer and does not say so is taken", async () => {
  const { failure } = await signIn({
    redirect: { iss: null },
    metadata: { authorization_response_iss_parameter_supported: undefined },
  });
  expect(failure).toBeUndefined();
});

test("neither the code nor a secret is in what a person reads of a failed exchange", async () => {
  const { failure } = await signIn({
    client: { clientId: "by-hand", clientSecret: "hush" },
    token: (form) =>
      Response.json(
        {
          error: "invalid_request",
          error_description: `${form.get("code")} ${form.get("code_verifier")} hush`,
        },
        { status: 400 },
      ),
  });
  expect(failure).toBe("the sign-in at https://auth.example failed: invalid_request: *** *** ***");
});

test("a page for signing in that is not https is not opened", async () => {
  const { failure, asked } = await signIn({
    metadata: { authorization_endpoint: "http://auth.example/authorize" },
  });
  expect(failure).toContain("its page for signing in, http://auth.example, is not https");
  expect(asked).toBeUndefined();
});

test("the way back is closed, however it ends", async () => {
  for (const redirect of [{}, { state: "guessed" }]) {
    let closed = 0;
    await signIn({
      redirect,
      consent: (server) => ({
        open: async (registered) => ({
          ...(await server.consent().open(registered)),
          close: async () => void closed++,
        }),
      }),
    });
    expect(closed).toBe(1);
  }
});
