import { expect, test } from "vitest";
import { FakeOAuth, issuer, serverUrl, type FakeOAuthOptions } from "../../../test/support/fakeOAuth.ts";
import { discover, loadSdk, wantedBy } from "./oauthServer.ts";

const sdk = await loadSdk();
const find = (options: FakeOAuthOptions = {}) =>
  discover({ sdk, url: serverUrl, fetch: new FakeOAuth(options).fetch });

test("a server names its authorization server, and what tokens are to be for", async () => {
  expect(await find({ resource: { resource: "https://mcp.example" } })).toMatchObject({
    issuer,
    resource: "https://mcp.example",
  });
});

test("a server without metadata of its own is its own authorization server", async () => {
  const alone = new FakeOAuth({ issuer: "https://mcp.example" });
  const fetch = async (url: string | URL, init?: RequestInit): Promise<Response> =>
    String(url).includes("protected-resource") ? new Response(null, { status: 404 }) : alone.fetch(url, init);
  const found = await discover({ sdk, url: serverUrl, fetch });
  expect(found.issuer).toBe("https://mcp.example");
  expect(found).not.toHaveProperty("resource");
});

test("without any metadata the authorization server is known by its address", async () => {
  const fetch = async (): Promise<Response> => new Response(null, { status: 404 });
  expect(await discover({ sdk, url: serverUrl, fetch })).toMatchObject({ issuer: "https://mcp.example/" });
});

test.each<[string, FakeOAuthOptions, string]>([
  [
    "metadata of another resource",
    { resource: { resource: "https://evil.example/mcp" } },
    "what the server says of itself is about another resource, https://evil.example/mcp",
  ],
  ["metadata of another issuer", { metadata: { issuer: "https://evil.example" } }, "Issuer mismatch"],
  [
    "no PKCE",
    { metadata: { code_challenge_methods_supported: undefined } },
    "https://auth.example does not say that it supports PKCE",
  ],
  ["metadata that are none", { metadata: { token_endpoint: 1 } }, "token_endpoint"],
])("%s: nobody signs in there", async (_, options, message) => {
  const failure = await find(options).then(
    () => expect.unreachable(),
    (error: Error) => error.message,
  );
  expect(failure).toContain("its authorization server cannot be used: ");
  expect(failure).toContain(message);
  expect(failure).not.toContain("\n");
});

test.each([
  [undefined, {}],
  ["Basic realm=x", {}],
  ['Bearer scope="a b", resource_metadata="nonsense"', { scope: "a b" }],
  [
    'Bearer resource_metadata="https://mcp.example/meta"',
    { resourceMetadataUrl: new URL("https://mcp.example/meta") },
  ],
])("the challenge %s", (wwwAuthenticate, wanted) => {
  expect(wantedBy(sdk, { status: 401, wwwAuthenticate })).toEqual(wanted);
});
