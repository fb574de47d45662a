import type { ConfigValue } from "./configValue.ts";

/** How the server at an address is reached. */
export type Scheme = "http" | "ws" | "tcp" | "unix";

const schemes: Readonly<Record<string, Scheme>> = {
  "http:": "http",
  "https:": "http",
  "ws:": "ws",
  "wss:": "ws",
  "tcp:": "tcp",
  "unix:": "unix",
};

/** The address of an upstream. Messages never quote it: it may have come from the environment. */
export function readUrl(value: ConfigValue): { readonly scheme: Scheme; readonly text: string } | undefined {
  const text = value.text();
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const scheme = url && schemes[url.protocol];
  if (!scheme)
    return value.fail(
      'must be a whole URL that starts with "http://", "https://", "ws://", "wss://", "tcp://" or "unix:".',
    );
  if (url.username !== "" || url.password !== "")
    return value.fail('must not hold a user name or a password. Put them into "headers".');
  return { scheme, text };
}

/** RFC 9110, sections 5.1 and 5.5. */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;
const envName = /^[^=\0]+$/;

export function readHeaders(section: ConfigValue | undefined): Record<string, string> {
  return readMap(section, headerName, (value) => headerValue.test(value));
}

export function readEnv(section: ConfigValue | undefined): Record<string, string> {
  return readMap(section, envName, () => true);
}

function readMap(
  section: ConfigValue | undefined,
  name: RegExp,
  fits: (value: string) => boolean,
): Record<string, string> {
  const entries: [string, string][] = [];
  for (const [key, { value, failKey }] of section?.members() ?? []) {
    const text = value.text({ allowEmpty: true });
    if (!name.test(key)) failKey("is a name that cannot be used here. Remove it, or correct it.");
    else if (text !== undefined && !fits(text))
      value.fail("holds a character that a header cannot carry, such as a line break.");
    else entries.push([key, text ?? ""]);
  }
  return Object.fromEntries(entries);
}
