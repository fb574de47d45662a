import type { Io } from "./io.ts";
import { cut, styleOf, writeLine, type Style } from "./output.ts";

const clearLine = "\r\u001B[2K";

/** What is going on, on standard error: one line that is redrawn on a terminal, a line each elsewhere. */
export class ProgressLine {
  readonly #io: Io;
  readonly #style: Style;
  #shown = "";

  constructor(io: Io) {
    this.#io = io;
    this.#style = styleOf(io.stderr, io.env);
  }

  show(text: string): void {
    const { stderr } = this.#io;
    if (stderr.isTTY !== true) return writeLine(stderr, text);
    // One column stays free: a full line would wrap and could not be redrawn.
    this.#shown = cut(text, (stderr.columns ?? 80) - 1);
    stderr.write(clearLine + this.#style.dim(this.#shown));
  }

  /** Writes a line that stays, above the one that is redrawn. */
  above(text: string): void {
    const shown = this.#shown;
    this.clear();
    writeLine(this.#io.stderr, text);
    if (shown !== "") this.show(shown);
  }

  clear(): void {
    if (this.#shown !== "") this.#io.stderr.write(clearLine);
    this.#shown = "";
  }
}
