// A gateway inside a program of one's own. Needs Node.
export { ConfigError, loadConfig, parseConfig } from "./config.ts";
export type { ConfigNote, ParsedConfig } from "./config.ts";
export { createGateway } from "./gateway.ts";
export type {
  Containment,
  CreateGateway,
  Gateway,
  GatewayConfig,
  GatewayOptions,
  UpstreamStatus,
} from "./types.ts";
export { openDoors } from "./doors.ts";
export type { Doors, DoorsOptions } from "./doors.ts";
export { serveTools } from "./serveTools.ts";
export type { ServeToolsOptions } from "./serveTools.ts";
