import type * as Sdk from "@modelcontextprotocol/client";

/** The longest reason that is repeated, in characters. */
const maxReason = 300;

/**
 * Why something failed at an authorization server, for a person: one line. Whatever of `secrets` the server repeats
 * is left out.
 */
export function oauthReason(
  sdk: typeof Sdk,
  error: unknown,
  secrets: readonly (string | undefined)[] = [],
): string {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const code =
    error instanceof sdk.OAuthError && error.code !== sdk.OAuthErrorCode.ServerError ? error.code : "";
  // The SDK puts a whole body that is not OAuth's behind this.
  const text = message.replace(/(: )?Invalid OAuth error response.*/s, "");
  const whole = [code, text]
    .filter((part, at, parts) => part !== "" && parts.indexOf(part) === at)
    .join(": ");
  let line = whole.replace(/[\p{Cc}\s]+/gu, " ").trim();
  for (const secret of secrets) if (secret) line = line.replaceAll(secret, "***");
  return line === "" ? "no explanation" : line.slice(0, maxReason);
}
