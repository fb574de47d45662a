import type { Item } from "../core/operation.ts";
import type { Mount } from "./mount.ts";

/**
 * Whose a URI is that no list has: the first provider's that has a template for it, else to be asked of those that have
 * anything under its scheme. `mounts` are in order.
 */
export async function unlistedOwner(uri: string, mounts: readonly Mount[]): Promise<Item | undefined> {
  for (const mount of mounts) {
    const template = await mount.template(uri);
    if (template) return template;
  }
  return byScheme(uri, mounts);
}

/**
 * A tool's answer may link to what is on no list. It is asked of those providers that have anything under that
 * scheme, in order, and of nobody else: a URI is not told to strangers.
 */
async function byScheme(uri: string, mounts: readonly Mount[]): Promise<Item | undefined> {
  const scheme = schemeOf(uri);
  if (scheme === undefined) return undefined;
  let otherwise: Item | undefined;
  for (const mount of mounts.toReversed()) {
    const item = mount.unlistedResource(uri);
    if (!item || !(await hasScheme(mount, scheme))) continue;
    otherwise = otherwise ? { ...item, otherwise } : item;
  }
  return otherwise;
}

async function hasScheme(mount: Mount, scheme: string): Promise<boolean> {
  const items = [...(await mount.items("resource")), ...(await mount.items("resourceTemplate"))];
  return items.some(({ name }) => schemeOf(name) === scheme);
}

/** In lower case (RFC 3986, section 3.1). */
function schemeOf(uri: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*(?=:)/i.exec(uri)?.[0].toLowerCase();
}
