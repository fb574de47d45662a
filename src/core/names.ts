/** Between a namespace and a tool's name. A name is split at the first one. */
export const separator = "__";

/** What clients take as a tool's name. */
const safe = /^[a-zA-Z0-9_-]{1,64}$/;
const namespaceForm = /^[a-zA-Z][a-zA-Z0-9-]*(_[a-zA-Z0-9-]+)*$/;

/** A namespace starts with a letter and never holds `__` or ends in `_`, so that the first `__` ends it. */
export function isNamespace(text: string): boolean {
  return namespaceForm.test(text);
}

/** Makes any key a namespace. A key that already is one stays; any other gets a hash of itself, so that look-alikes do not meet. */
export function toNamespace(key: string): string {
  if (isNamespace(key)) return key;
  const fitted = key
    .replace(/[^a-zA-Z0-9-]/g, "_")
    .replace(/_+/g, "_")
    .replace(/^_|_$/g, "");
  return `${/^[a-zA-Z]/.test(fitted) ? "" : "s"}${fitted}-${hash8(key)}`;
}

/** The canonical name: what guards, logs and the audit see. */
export function joinName(namespace: string, tool: string): string {
  return namespace + separator + tool;
}

/** Splits at the first `__`; undefined where there is none or nothing stands before it. */
export function splitName(name: string): { namespace: string; tool: string } | undefined {
  const at = name.indexOf(separator);
  if (at <= 0) return undefined;
  return { namespace: name.slice(0, at), tool: name.slice(at + separator.length) };
}

/** The name that clients see. A pure function of the canonical one: it never moves because something else joined. */
export function exposedName(canonicalName: string): string {
  if (safe.test(canonicalName)) return canonicalName;
  return `${canonicalName.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 55)}_${hash8(canonicalName)}`;
}

/** FNV-1a over UTF-8, 32 bits, as 8 hex digits. */
function hash8(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}
