/** This many pieces are made one, so that a peer that writes byte by byte costs no object for each. */
const maxPieces = 1024;

/** Bytes as they come, for one text. How small the pieces are makes no difference to the memory that they take. */
export class Pieces {
  readonly #joined: Buffer[] = [];
  #pieces: Buffer[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(piece: Buffer): void {
    this.#bytes += piece.length;
    this.#pieces.push(piece);
    if (this.#pieces.length < maxPieces) return;
    this.#joined.push(Buffer.concat(this.#pieces));
    this.#pieces = [];
  }

  /** All of it, as UTF-8. */
  text(): string {
    const all = [...this.#joined, ...this.#pieces];
    return (all.length === 1 ? all[0]! : Buffer.concat(all)).toString();
  }
}
