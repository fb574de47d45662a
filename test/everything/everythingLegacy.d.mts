import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { Description } from "./description.mjs";

/** For one session; connect it to a transport of the SDK. */
export function createEverythingLegacy(description: Description): Server;
