import { connect } from "node:net";
import { once } from "node:events";

/**
 * One keep-alive HTTP/1.1 connection that does one exchange after the other. Written for a load that a
 * general client would slow down: it knows `content-length` and chunked bodies, and nothing else.
 */
export class HttpConnection {
  #socket;
  #host;
  #path;
  #received = "";
  #settle;

  static async open(url) {
    const { hostname, port, pathname, host } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, "connect");
    return new HttpConnection(socket, host, pathname);
  }

  constructor(socket, host, path) {
    this.#socket = socket;
    this.#host = host;
    this.#path = path;
    // latin1 keeps one character a byte: the bodies are ASCII.
    socket.setEncoding("latin1").on("data", (text) => this.#take(text));
    socket.on("error", (error) => this.#settle?.reject(error));
    socket.on("close", () => this.#settle?.reject(new Error("the server closed the connection")));
  }

  /** Headers as prepared by `head`, so that they are made once for many calls. */
  post(head, body) {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Error("the connection is closed"));
      this.#settle = { resolve, reject };
      this.#socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
  }

  head(headers) {
    const lines = Object.entries({ host: this.#host, ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    return `POST ${this.#path} HTTP/1.1\r\n${lines.join("")}`;
  }

  close() {
    this.#settle = undefined;
    this.#socket.destroy();
  }

  #take(text) {
    this.#received += text;
    const end = this.#received.indexOf("\r\n\r\n");
    if (end < 0) return;
    const head = this.#received.slice(0, end);
    const rest = this.#received.slice(end + 4);
    const length = /^content-length: *(\d+)/im.exec(head)?.[1];
    const whole = length === undefined ? rest.endsWith("0\r\n\r\n") : rest.length >= Number(length);
    const empty =
      /^HTTP\/1.1 (202|204)/.test(head) && length === undefined && !/^transfer-encoding/im.test(head);
    if (!whole && !empty) return;
    this.#received = "";
    this.#settle.resolve({ status: Number(head.slice(9, 12)), head, body: rest });
  }
}
