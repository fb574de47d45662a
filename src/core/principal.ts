/**
 * Who is asking, as the door established it: the owner of a bearer token, or `local`. What a client
 * says of itself is a `ClientInfo` and decides nothing.
 */
export interface Principal {
  readonly id: string;
}

/** The person at this machine: stdio, a Unix socket, the command line. */
export const localPrincipal: Principal = { id: "local" };

/** MCP's `Implementation`: self-reported, for display and the record. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
}
