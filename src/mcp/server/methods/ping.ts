import type { Method } from "../method.ts";

/** Legacy only (specification 2025-11-25, basic/utilities/ping). */
export const ping: Method = () => ({});
