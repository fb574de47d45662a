import { createHash } from "node:crypto";
import type { Consent, Grant, GrantStore } from "../../src/mcp/client/oauth.ts";

/** The server that tokens are for. */
export const serverUrl = "https://mcp.example/mcp";
export const issuer = "https://auth.example";

export interface FakeOAuthOptions {
  /** Replaces members of the authorization server's metadata. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Replaces members of the resource's metadata. */
  readonly resource?: Readonly<Record<string, unknown>>;
  /** Parameters of the browser's way back, beside `code` and `state`; null takes one away. */
  readonly redirect?: Readonly<Record<string, string | null>>;
  /** Answers instead of the token endpoint. */
  token?(form: URLSearchParams): Response | undefined;
  /** Default `issuer`. */
  readonly issuer?: string;
  /** Default `serverUrl`. */
  readonly server?: string;
}

const json = (value: unknown, status = 200): Response =>
  new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json" } });

/** An authorization server, and the metadata of the server that it serves, behind one `fetch`. */
export class FakeOAuth {
  readonly issuer: string;
  readonly options: FakeOAuthOptions;
  /** `GET https://...`, in order. */
  readonly requests: string[] = [];
  /** The forms that the token endpoint got. */
  readonly forms: URLSearchParams[] = [];
  /** What clients registered themselves with. */
  readonly registrations: Record<string, unknown>[] = [];
  readonly #server: URL;
  #challenge = "";
  #issued = 0;
  #valid = new Set<string>();

  constructor(options: FakeOAuthOptions = {}) {
    this.options = options;
    this.issuer = options.issuer ?? issuer;
    this.#server = new URL(options.server ?? serverUrl);
  }

  readonly fetch = async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    this.requests.push(`${request.method} ${request.url}`);
    return this.answer(request);
  };

  async answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    switch (pathname) {
      case `/.well-known/oauth-protected-resource${this.#server.pathname}`:
        return json({
          resource: this.#server.href,
          authorization_servers: [this.issuer],
          ...this.options.resource,
        });
      case "/.well-known/oauth-authorization-server":
        return json({ ...this.#metadata(), ...this.options.metadata });
      case "/register":
        return this.#register((await request.json()) as Record<string, unknown>);
      case "/authorize":
        return this.#authorize(searchParams);
      case "/token":
        return this.#token(new URLSearchParams(await request.text()));
      default:
        return new Response("no such page", { status: 404 });
    }
  }

  #metadata(): Record<string, unknown> {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      registration_endpoint: `${this.issuer}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none", "client_secret_post"],
      authorization_response_iss_parameter_supported: true,
    };
  }

  #register(metadata: Record<string, unknown>): Response {
    this.registrations.push(metadata);
    return json({ ...metadata, client_id: `client-${this.registrations.length}` }, 201);
  }

  #authorize(query: URLSearchParams): Response {
    this.#challenge = query.get("code_challenge") ?? "";
    const back = new URL(query.get("redirect_uri")!);
    const answer = {
      code: "the-code",
      state: query.get("state"),
      iss: this.issuer,
      ...this.options.redirect,
    };
    for (const [name, value] of Object.entries(answer))
      if (value !== null) back.searchParams.set(name, value);
    return new Response(null, { status: 302, headers: { location: back.href } });
  }

  #token(form: URLSearchParams): Response {
    this.forms.push(form);
    const other = this.options.token?.(form);
    if (other) return other;
    const verified = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (form.get("grant_type") === "authorization_code" && verified !== this.#challenge)
      return json({ error: "invalid_grant", error_description: "the verifier does not fit" }, 400);
    this.#issued += 1;
    this.#valid.add(`Bearer access-${this.#issued}`);
    return json({
      access_token: `access-${this.#issued}`,
      token_type: "Bearer",
      refresh_token: `refresh-${this.#issued}`,
    });
  }

  /** Is this the `Authorization` of a token that it has given? */
  accepts(authorization: string | undefined): boolean {
    return authorization !== undefined && this.#valid.has(authorization);
  }

  /** All access tokens end. */
  expire(): void {
    this.#valid.clear();
  }

  /** A person who always agrees, without a browser. `asked` gets the addresses. */
  consent(asked: URL[] = [], redirectUrl = "http://127.0.0.1:1/callback"): Consent {
    return {
      open: async (registered) => ({
        redirectUrl: registered ?? redirectUrl,
        ask: async (address) => {
          asked.push(address);
          const response = await this.answer(new Request(address));
          return new URL(response.headers.get("location")!).searchParams;
        },
        close: async () => {},
      }),
    };
  }
}

/** Keeps a grant in memory, as a file does: what is read is a copy. */
export class MemoryGrants implements GrantStore {
  readonly place = "/state/oauth/it.json";
  grant: Grant | undefined;
  loads = 0;

  constructor(grant?: Grant) {
    this.grant = grant;
  }

  async load(): Promise<Grant | undefined> {
    this.loads += 1;
    return structuredClone(this.grant);
  }

  async update(change: (now: Grant | undefined) => Promise<Grant | undefined>): Promise<Grant | undefined> {
    const after = await change(this.grant);
    if (after) this.grant = structuredClone(after);
    return after ?? structuredClone(this.grant);
  }
}
