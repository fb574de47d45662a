import { expect, test, vi } from "vitest";
import { FakeClock } from "../../../test/support/fakeClock.ts";
import {
  FakeOAuth,
  issuer,
  MemoryGrants,
  serverUrl,
  type FakeOAuthOptions,
} from "../../../test/support/fakeOAuth.ts";
import { OAuthCredentials, type Grant, type OAuthClientConfig, type OAuthOptions } from "./oauth.ts";

const granted: Grant = {
  issuer,
  client: { client_id: "client-0", issuer },
  redirectUrl: "http://127.0.0.1:1/callback",
  tokens: { access: "access-0", refresh: "refresh-0" },
};
const unauthorized = { status: 401, wwwAuthenticate: undefined };
const insufficient = (scope: string) => ({
  status: 403,
  wwwAuthenticate: `Bearer error="insufficient_scope", scope="${scope}"`,
});
const denied = (error: string, status = 400, description = "") =>
  new Response(JSON.stringify({ error, ...(description && { error_description: description }) }), { status });

interface SetUp extends FakeOAuthOptions {
  readonly grant?: Grant;
  readonly client?: OAuthClientConfig;
  readonly person?: boolean;
  readonly more?: Partial<OAuthOptions>;
}

function setUp({ grant, client, person, more, ...options }: SetUp = {}) {
  const server = new FakeOAuth(options);
  const store = new MemoryGrants(grant);
  const asked: URL[] = [];
  const credentials = new OAuthCredentials({
    url: serverUrl,
    store,
    advice: 'Run "toolgate auth it".',
    fetch: server.fetch,
    clock: new FakeClock(),
    ...(client && { client }),
    ...(person && { consent: server.consent(asked) }),
    ...more,
  });
  const authorization = async (): Promise<string | undefined> =>
    (await credentials.headers())["authorization"];
  return { server, store, asked, credentials, authorization };
}

test("a token that is kept is sent, and the store is read once", async () => {
  const { authorization, store, server } = setUp({ grant: granted });
  expect(await Promise.all([authorization(), authorization()])).toEqual(Array(2).fill("Bearer access-0"));
  await authorization();
  expect(store.loads).toBe(1);
  expect(server.requests).toEqual([]);
});

test("without a token there are no headers; a refusal tells who is to do what, and asks nobody else", async () => {
  const { credentials, server, store } = setUp();
  expect(await credentials.headers()).toEqual({});
  await expect(credentials.refused(unauthorized)).rejects.toThrow(
    'it wants somebody to sign in. Run "toolgate auth it".',
  );
  expect(server.requests).toEqual([]);
  expect(store.grant).toBeUndefined();
});

test("a store that cannot be read is an error each time, until it can", async () => {
  const { credentials, store } = setUp({ grant: granted });
  const load = vi.spyOn(store, "load").mockRejectedValueOnce(new Error("it is broken"));
  await expect(credentials.headers()).rejects.toThrow("it is broken");
  expect(await credentials.headers()).toEqual({ authorization: "Bearer access-0" });
  load.mockRejectedValueOnce(new Error("it is broken"));
  await expect(credentials.refused(unauthorized)).rejects.toThrow("it is broken");
  expect(await credentials.headers()).toEqual({ authorization: "Bearer access-0" });
});

test("a refused token is refreshed once, however many requests were refused, and kept", async () => {
  const { credentials, authorization, server, store } = setUp({ grant: granted });
  const sent = await credentials.headers();
  const challenge = { ...unauthorized, sent };
  expect(await Promise.all([credentials.refused(challenge), credentials.refused(challenge)])).toEqual([
    true,
    true,
  ]);
  expect(await authorization()).toBe("Bearer access-1");
  expect(store.grant?.tokens).toEqual({ access: "access-1", refresh: "refresh-1" });
  expect(server.forms.map(String)).toEqual([
    `grant_type=refresh_token&refresh_token=refresh-0&resource=${encodeURIComponent(serverUrl)}&client_id=client-0`,
  ]);
  // One that was on its way meanwhile with the old token.
  expect(await credentials.refused(challenge)).toBe(true);
  expect(server.forms).toHaveLength(1);
});

test("tokens that another process has got are taken from the store", async () => {
  const { credentials, authorization, server, store } = setUp();
  await credentials.headers();
  store.grant = granted;
  expect(await credentials.refused(unauthorized)).toBe(true);
  expect(await authorization()).toBe("Bearer access-0");
  expect(server.requests).toEqual([]);
});

test("tokens that another process gets while this one waits for its turn are taken", async () => {
  const { credentials, authorization, server, store } = setUp({ grant: granted });
  await credentials.headers();
  const { update } = MemoryGrants.prototype;
  vi.spyOn(store, "update").mockImplementation(function (this: MemoryGrants, change) {
    this.grant = { ...granted, tokens: { access: "other", refresh: "other" } };
    return update.call(this, change);
  });
  expect(await credentials.refused(unauthorized)).toBe(true);
  expect(await authorization()).toBe("Bearer other");
  expect(server.forms).toEqual([]);
});

test("a server that rotates nothing: the old refresh token stays", async () => {
  const { credentials, store } = setUp({
    grant: granted,
    token: () => Response.json({ access_token: "short", token_type: "Bearer" }),
  });
  await credentials.headers();
  await credentials.refused(unauthorized);
  expect(store.grant?.tokens).toEqual({ access: "short", refresh: "refresh-0" });
});

test.each(["invalid_grant", "invalid_client", "unauthorized_client"])(
  "%s ends the sign-in: the dead tokens are not tried again",
  async (error) => {
    const { credentials, authorization, server, store } = setUp({
      grant: granted,
      token: () => denied(error),
    });
    await credentials.headers();
    await expect(credentials.refused(unauthorized)).rejects.toThrow("its sign-in has ended. Run");
    expect(store.grant).toEqual({ ...granted, tokens: undefined });
    expect(await authorization()).toBeUndefined();
    await expect(credentials.refused(unauthorized)).rejects.toThrow("it wants somebody to sign in. Run");
    expect(server.forms).toHaveLength(1);
  },
);

test("a refresh that fails for now keeps the tokens, and its reason holds no secret", async () => {
  const { credentials, store } = setUp({
    grant: { ...granted, client: { client_id: "c", client_secret: "hush", issuer } },
    token: (form) => denied("temporarily_unavailable", 503, `no ${form.get("refresh_token")}\nwith hush`),
  });
  await credentials.headers();
  await expect(credentials.refused(unauthorized)).rejects.toThrow(
    "its token could not be refreshed at https://auth.example: temporarily_unavailable: no *** with ***",
  );
  expect(store.grant?.tokens?.refresh).toBe("refresh-0");
});

test("a body that is no OAuth error is not repeated", async () => {
  const { credentials } = setUp({
    grant: granted,
    token: () => new Response("<h1>refresh-0</h1>", { status: 500 }),
  });
  await credentials.headers();
  await expect(credentials.refused(unauthorized)).rejects.toThrow(/at https:\/\/auth.example: HTTP 500$/);
});

test.each<[string, Partial<Grant>, OAuthClientConfig]>([
  ["no refresh token", { tokens: { access: "access-0" } }, {}],
  ["another authorization server by now", { issuer: "https://old.example" }, {}],
  ["another client in the configuration", {}, { clientId: "by-hand" }],
])("%s: only a person helps, and the tokens go nowhere", async (_, change, client) => {
  const { credentials, server } = setUp({ grant: { ...granted, ...change }, client });
  await credentials.headers();
  await expect(credentials.refused(unauthorized)).rejects.toThrow("its sign-in has ended. Run");
  expect(server.forms).toEqual([]);
});

test("a secret of the configuration is used to refresh, and is not kept", async () => {
  const { credentials, server, store } = setUp({
    grant: { ...granted, client: { client_id: "by-hand", issuer } },
    client: { clientId: "by-hand", clientSecret: "hush" },
    metadata: { token_endpoint_auth_methods_supported: ["client_secret_post"] },
  });
  await credentials.headers();
  await credentials.refused(unauthorized);
  expect(server.forms[0]?.get("client_secret")).toBe("hush");
  expect(JSON.stringify(store.grant)).not.toContain("hush");
});

test("a scope that a call needs is remembered for the sign-in that a person makes", async () => {
  const { credentials, store } = setUp({ grant: { ...granted, scope: "read" } });
  await credentials.headers();
  await expect(credentials.refused(insufficient("write"))).rejects.toThrow(
    'it wants one more scope, write. Run "toolgate auth it".',
  );
  await expect(credentials.refused(insufficient("admin"))).rejects.toThrow("admin");
  expect(store.grant).toEqual({ ...granted, scope: "read", wanted: "write admin" });
  const { server, asked, ...later } = setUp({ grant: store.grant!, person: true });
  await later.credentials.signIn({ status: 401, wwwAuthenticate: 'Bearer scope="read"' });
  expect(asked.map((address) => address.searchParams.get("scope"))).toEqual(["read write admin"]);
  expect(server.registrations).toEqual([]);
});

test("a person is asked for more scopes, beside those that were granted", async () => {
  const { credentials, authorization, asked } = setUp({ grant: { ...granted, scope: "read" }, person: true });
  await credentials.headers();
  expect(await credentials.refused(insufficient("write"))).toBe(true);
  expect(asked[0]?.searchParams.get("scope")).toBe("read write");
  expect(await authorization()).toBe("Bearer access-1");
});

test("a scope that was asked for already is not asked for again", async () => {
  const { credentials, asked } = setUp({ grant: { ...granted, scope: "read write" }, person: true });
  await credentials.headers();
  await expect(credentials.refused(insufficient("write"))).rejects.toThrow(
    "it wants a scope, write, that the sign-in has asked for",
  );
  await expect(
    credentials.refused({ status: 403, wwwAuthenticate: 'Bearer error="insufficient_scope"' }),
  ).rejects.toThrow("and does not say which");
  expect(asked).toEqual([]);
});

test("a person who is there is asked where a refresh does not help", async () => {
  const { credentials, authorization, server, asked } = setUp({
    grant: granted,
    person: true,
    token: (form) => (form.get("grant_type") === "refresh_token" ? denied("invalid_grant") : undefined),
  });
  await credentials.headers();
  expect(await credentials.refused(unauthorized)).toBe(true);
  expect(asked).toHaveLength(1);
  expect(await authorization()).toBe("Bearer access-1");
  // The client may be what the authorization server has forgotten.
  expect(server.registrations).toHaveLength(1);
});
