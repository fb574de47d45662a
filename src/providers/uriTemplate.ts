/** Longer ones match nothing: nobody writes them, and each pair costs the product of both lengths. */
const maxLength = 4096;
/** What one search may cost, in tokens looked at: some tens of milliseconds, in which nothing else runs. */
const maxSteps = 2_000_000;
/** What reading one character of a template costs, in the same. */
const readingSteps = 4;

interface Token {
  /** The one character that it takes. Without it, any. */
  readonly literal?: string;
  /** Takes `/` as well, where it takes any. */
  readonly slashes: boolean;
  /** Takes any number of characters. */
  readonly repeats: boolean;
  /** How many tokens, from this one on, may be left out together. */
  readonly skips: 0 | 1 | 2;
}

/** What is left of a search. */
interface Budget {
  steps: number;
}

/**
 * The first of a provider's templates that a URI can have come of. A search that takes longer than any honest
 * templates need ends without one.
 */
export function firstMatching<T extends { readonly name: string }>(
  templates: readonly T[],
  uri: string,
): T | undefined {
  const budget = { steps: maxSteps };
  return templates.find(({ name }) => matchesTemplate(name, uri, budget));
}

/**
 * True if a URI can have come of a URI template (RFC 6570). A plain expression stands for one character or more
 * within one path segment, one with `+` for one or more of any; with another operator it stands for nothing, or for
 * what begins with the operator. All ways to match are followed at once, so that no template makes this slow.
 */
export function matchesTemplate(
  template: string,
  uri: string,
  budget: Budget = { steps: Infinity },
): boolean {
  if (template.length > maxLength || uri.length > maxLength) return false;
  const expressionAt = template.indexOf("{");
  if (expressionAt >= 0 && !uri.startsWith(template.slice(0, expressionAt))) return false;
  budget.steps -= readingSteps * template.length;
  if (budget.steps < 0) return false;
  const tokens = tokensOf(template);
  let reached = new Uint8Array(tokens.length + 1);
  reach(0, reached, tokens);
  for (const char of uri) {
    budget.steps -= tokens.length;
    if (budget.steps < 0) return false;
    const next = new Uint8Array(tokens.length + 1);
    let isAlive = false;
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at]!;
      if (reached[at] === 0 || !takes(token, char)) continue;
      reach(token.repeats ? at : at + 1, next, tokens);
      isAlive = true;
    }
    if (!isAlive) return false;
    reached = next;
  }
  return reached[tokens.length] === 1;
}

/** Marks a place among the tokens, and those that are reached from there without a character. */
function reach(from: number, reached: Uint8Array, tokens: readonly Token[]): void {
  for (let at = from; reached[at] === 0; at += tokens[at]?.skips ?? 0) reached[at] = 1;
}

function takes({ literal, slashes }: Token, char: string): boolean {
  if (literal !== undefined) return literal === char;
  return slashes || char !== "/";
}

function tokensOf(template: string): Token[] {
  return template.split(/(\{[^{}]*\})/).flatMap((part, at) => {
    // What the expression captured stands at the odd places.
    if (at % 2 === 1) return expression(part.charAt(1));
    return Array.from(part, (literal): Token => ({ literal, slashes: false, repeats: false, skips: 0 }));
  });
}

/** By what stands first between the braces. */
function expression(first: string): Token[] {
  const slashes = "+#/?&".includes(first);
  const rest: Token = { slashes, repeats: true, skips: 1 };
  if ("#./;?&".includes(first)) return [{ literal: first, slashes, repeats: false, skips: 2 }, rest];
  return [{ slashes, repeats: false, skips: 0 }, rest];
}
