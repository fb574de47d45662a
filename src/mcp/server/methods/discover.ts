import { modernVersions } from "../../../wire/protocol.ts";
import type { Method } from "../method.ts";

/** How long a client may keep what `server/discover` said: it changes only when the server is started anew. */
const ttlMs = 3_600_000;

/** Specification 2026-07-28, server/discover. */
export const discover: Method = (server) => ({
  supportedVersions: [...modernVersions],
  capabilities: { tools: {}, logging: {} },
  ...(server.instructions !== undefined && { instructions: server.instructions }),
  ttlMs,
  cacheScope: "public",
});
