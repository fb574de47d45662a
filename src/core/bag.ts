/** What can be in one `Bag` at a time. */
export interface BagMember {
  /** The bag's own: -1 outside. */
  bagIndex: number;
}

/**
 * An unordered set whose members come and go with every call. A long-lived `Set` would do, but as it is rebuilt it
 * leaves tables behind that keep what they held alive through many collections: that took a third of the CPU of a
 * short call.
 */
export class Bag<T extends BagMember> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** Of a member that is in no bag. */
  add(member: T): void {
    member.bagIndex = this.#members.push(member) - 1;
  }

  /** Does nothing for a member that is in no bag. */
  delete(member: T): void {
    const at = member.bagIndex;
    if (at < 0) return;
    const last = this.#members.pop()!;
    if (last !== member) {
      this.#members[at] = last;
      last.bagIndex = at;
    }
    member.bagIndex = -1;
  }

  has(member: T): boolean {
    return member.bagIndex >= 0;
  }

  /** As they are now: the bag may change meanwhile. */
  members(): readonly T[] {
    return [...this.#members];
  }
}
