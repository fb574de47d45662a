import { timingSafeEqual } from "node:crypto";
import { localPrincipal, type Principal } from "../../core/principal.ts";

/** Who sent this `Authorization` header; undefined if nobody that may come in. Must not throw. */
export type Authenticate = (authorization: string | undefined) => Principal | undefined;

const scheme = /^bearer +(\S+) *$/i;

/**
 * Bearer tokens (RFC 6750, section 2.1), one or more principals each with a token of its own. The time it
 * takes tells the length of a token and nothing else. Throws a `TypeError` for an empty token.
 */
export function bearer(tokens: ReadonlyMap<string, string>): Authenticate {
  const known = [...tokens].map(([id, token]) => {
    if (token === "") throw new TypeError(`The bearer token of "${id}" is empty: anybody could send it.`);
    return { principal: { id }, token: Buffer.from(token) };
  });
  return (authorization) => {
    const sent = authorization === undefined ? undefined : scheme.exec(authorization)?.[1];
    if (sent === undefined) return undefined;
    const bytes = Buffer.from(sent);
    let owner: Principal | undefined;
    for (const { principal, token } of known) {
      if (bytes.length === token.length && timingSafeEqual(bytes, token)) owner ??= principal;
    }
    return owner;
  };
}

/** Everybody is `local`. For loopback only. */
export const noAuth: Authenticate = () => localPrincipal;
