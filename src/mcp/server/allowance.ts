/** How much each principal holds of something, up to a limit for each. */
export class Allowance {
  readonly #max: number;
  readonly #held = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** False, and nothing is taken, where it would be more than the limit. What was taken is given back once. */
  take(principal: string, count = 1): boolean {
    const held = (this.#held.get(principal) ?? 0) + count;
    if (held > this.#max) return false;
    this.#held.set(principal, held);
    return true;
  }

  giveBack(principal: string, count = 1): void {
    const held = (this.#held.get(principal) ?? 0) - count;
    if (held > 0) this.#held.set(principal, held);
    else this.#held.delete(principal);
  }
}
