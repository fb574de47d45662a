import type { InputRequest } from "../../core/context.ts";
import { ToolError } from "../../core/errors.ts";

/** Questions of one call that may wait at once. */
const maxCount = 100;
/** Their params together, as JSON in UTF-16 units: as much as a client may send in one message by default. */
const maxLength = 4 * 1024 * 1024;

/** Bounds what one call asks its client at once: who asks is no friend, and who answers may never come. */
export class OpenQuestions {
  #count = 0;
  #length = 0;

  /** Takes a place; returns how to give it back, to be called once. Throws `ToolError` `ExecutionFailed` where there is none. */
  enter({ method, params }: InputRequest): () => void {
    const { length } = JSON.stringify(params);
    if (this.#count >= maxCount || this.#length + length > maxLength)
      throw new ToolError(
        "ExecutionFailed",
        `${method} is refused: a call asks ${maxCount} things at once, and ${maxLength} characters in all.`,
      );
    this.#count += 1;
    this.#length += length;
    return () => {
      this.#count -= 1;
      this.#length -= length;
    };
  }
}
