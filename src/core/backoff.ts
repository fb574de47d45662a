export interface BackoffOptions {
  /** The shortest wait in milliseconds. Default 1,000. */
  readonly floorMs?: number;
  /** The longest wait in milliseconds. Default 60,000. */
  readonly capMs?: number;
  /** From 0 to 1, as `Math.random`, which is the default. */
  readonly random?: () => number;
}

/**
 * Milliseconds to wait after `failures` failures in a row: doubles from the floor to the cap, with up to a
 * half of it taken off at random, so that what fell together does not come back together.
 */
export function backoffMs(failures: number, options: BackoffOptions = {}): number {
  const { floorMs = 1_000, capMs = 60_000, random = Math.random } = options;
  const whole = Math.min(capMs, floorMs * 2 ** Math.max(0, failures - 1));
  return Math.max(floorMs, whole * (1 - random() / 2));
}
