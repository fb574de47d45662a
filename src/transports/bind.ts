import type { AddressInfo, Server } from "node:net";

export interface BindOptions {
  /** A name or address of this machine; IPv6 without brackets. */
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
}

/**
 * Listens and resolves with the port. Rejects with an `Error` for a person, with the system's `code`; `flag` is how
 * the command line chooses another port.
 */
export async function bind(server: Server, { host, port }: BindOptions, flag: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      const message = explain(error, { host, port }, flag);
      reject(Object.assign(new Error(message, { cause: error }), { code: error.code }));
    };
    server.once("error", failed);
    server.listen({ host, port }, () => {
      server.off("error", failed);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

function explain(error: NodeJS.ErrnoException, { host, port }: BindOptions, flag: string): string {
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use. Stop the other program or choose another port with ${flag}.`,
    EACCES: `This user may not open port ${port} on ${host}. Choose a port above 1023 with ${flag}.`,
    EADDRNOTAVAIL: `This machine has no address ${host}. Choose one of its own with ${flag}.`,
  };
  return reasons[error.code ?? ""] ?? `Cannot listen on ${host}, port ${port}: ${error.message}.`;
}

/** As it stands in a URL: `127.0.0.1:7070`, `[::1]:7070`. */
export function authorityOf({ host, port }: BindOptions): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
