import type { ConfigValue } from "./configValue.ts";

/**
 * The address of an upstream; `unsupported` is told of one whose scheme this version cannot dial. Messages never
 * quote the address: it may have come from the environment.
 */
export function readUrl(value: ConfigValue, unsupported: (reason: string) => void): string | undefined {
  const text = value.text();
  if (text === undefined) return undefined;
  const later = /^(wss?|tcp|unix):/i.exec(text)?.[1];
  if (later !== undefined) {
    unsupported(`"${later.toLowerCase()}:" is not supported yet by this version. Use http:// or https://.`);
    return undefined;
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    return value.fail('must be a whole URL that starts with "http://" or "https://".');
  if (url.username !== "" || url.password !== "")
    return value.fail('must not hold a user name or a password. Put them into "headers".');
  return text;
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
