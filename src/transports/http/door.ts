export interface DoorOptions {
  /** The name or address that the server is bound to. */
  readonly host: string;
  /** More names that clients may call it by: `gateway.lan` for any port, `gateway.lan:7070` for one. */
  readonly allowedHosts?: readonly string[];
  /** Web origins whose pages may call it, as browsers write them: `https://app.example`. */
  readonly allowedOrigins?: readonly string[];
}

const hostForm = /^(\[[0-9a-f:.]+\]|[^\s:/@[\]]+)(?::\d{1,5})?$/;
const loopbackName = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Keeps web pages out. A page can reach any local port, and by DNS rebinding under a name of its own, so
 * both who is called (`Host`) and who calls (`Origin`) must be expected ones (specification 2026-07-28,
 * Streamable HTTP, Security & Endpoint).
 */
export class Door {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  // Clients call one name over and over: the last one that passed needs no second look.
  #passed: string | undefined;

  constructor(options: DoorOptions) {
    const own = options.host.includes(":") ? `[${options.host}]` : options.host;
    this.#hosts = new Set([own, ...(options.allowedHosts ?? [])].map((name) => name.toLowerCase()));
    this.#origins = new Set((options.allowedOrigins ?? []).map((origin) => origin.toLowerCase()));
  }

  /** Takes loopback names, the bound host and the allowed hosts, with any port. */
  allowsHost(header: string): boolean {
    if (header === this.#passed) return true;
    const host = header.toLowerCase();
    const name = hostForm.exec(host)?.[1];
    if (name === undefined) return false;
    const allowed = loopbackName.test(name) || this.#hosts.has(name) || this.#hosts.has(host);
    if (allowed) this.#passed = header;
    return allowed;
  }

  /** Takes the allowed origins, and on loopback the server's own. `host` has passed `allowsHost`. */
  allowsOrigin(header: string, host: string): boolean {
    const origin = header.toLowerCase();
    if (this.#origins.has(origin)) return true;
    const called = host.toLowerCase();
    return origin === `http://${called}` && loopbackName.test(hostForm.exec(called)?.[1] ?? "");
  }
}
