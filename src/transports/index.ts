// The doors and the ways to peers, for a shell or a client of one's own. Needs Node.
export { serveStream } from "./stream.ts";
export type { ServeStreamOptions, StreamServer } from "./stream.ts";
export { dialStdio, serveStdio } from "./stdio.ts";
export type { DialStdioOptions, ServeStdioOptions } from "./stdio.ts";
export { memoryPair } from "./memory.ts";
export { listenHttp } from "./http/listen.ts";
export type { HttpListener, HttpListenOptions } from "./http/listen.ts";
export { bearer, noAuth } from "./http/bearer.ts";
export type { Authenticate } from "./http/bearer.ts";
export { dialHttp } from "./http/dial.ts";
export type { DialHttpOptions } from "./http/dial.ts";
export { createSpawn } from "./spawn.ts";
export type { Spawner, SpawnerOptions } from "./spawn.ts";
