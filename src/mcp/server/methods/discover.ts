import { modernVersions } from "../../../wire/protocol.ts";
import { aboutOf } from "../capabilities.ts";
import type { Method } from "../method.ts";

/** Specification 2026-07-28, server/discover. An upstream that joins may bring capabilities: what is said is stale at once. */
export const discover: Method = async (server) => ({
  supportedVersions: [...modernVersions],
  ...(await aboutOf(server)),
  ttlMs: 0,
  cacheScope: "private",
});
