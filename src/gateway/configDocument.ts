import { parseTree, printParseErrorCode, type Node, type ParseError } from "jsonc-parser";
import { ConfigError, type Problem } from "./configError.ts";
import { ConfigValue, type ConfigSource } from "./configValue.ts";

/** The text of a configuration, and what was found wrong in it so far. */
export class ConfigDocument implements ConfigSource {
  readonly problems: Problem[] = [];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly #file: string;
  readonly #lineStarts: readonly number[];
  readonly #root: Node;

  /** Takes JSON with comments and trailing commas. Throws `ConfigError` if it is not even that. */
  constructor(text: string, file: string, env: Readonly<Record<string, string | undefined>>) {
    const body = text.replace(/^\uFEFF/, "");
    this.env = env;
    this.#file = file;
    this.#lineStarts = [0, ...Array.from(body.matchAll(/\r\n|\n|\r/g), (end) => end.index + end[0].length)];
    const errors: ParseError[] = [];
    const root = this.#parse(body, errors);
    this.#report(errors);
    this.finish();
    if (!root) throw new ConfigError(file, [whole('The file is empty. Write at least "{}".')]);
    this.#root = root;
  }

  get root(): ConfigValue {
    return new ConfigValue(this, this.#root, "");
  }

  problem(path: string, offset: number, message: string): void {
    const line = this.#lineStarts.findLastIndex((start) => start <= offset);
    this.problems.push({ path, line: line + 1, column: offset - this.#lineStarts[line]! + 1, message });
  }

  unset(path: string, offset: number, name: string): void {
    this.problem(
      path,
      offset,
      `the environment variable ${name} is not set. Set it, or write \${${name}:-default}.`,
    );
  }

  /** Throws a `ConfigError` with all problems, in the order of the text, if there are any. */
  finish(): void {
    if (this.problems.length === 0) return;
    const ordered = this.problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
    throw new ConfigError(this.#file, ordered);
  }

  #parse(body: string, errors: ParseError[]): Node | undefined {
    if (body.trim() === "") return undefined;
    try {
      return parseTree(body, errors, { allowTrailingComma: true });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new ConfigError(this.#file, [whole("Arrays or objects are nested too deeply to be read.")]);
    }
  }

  /** One a line: what follows the first is mostly its consequence. */
  #report(errors: readonly ParseError[]): void {
    const lines = new Set<number>();
    for (const { error, offset } of errors) {
      const line = this.#lineStarts.findLastIndex((start) => start <= offset);
      if (lines.has(line)) continue;
      lines.add(line);
      const name = printParseErrorCode(error);
      this.problem("", offset, `This is no JSON: ${sentences[name] ?? name}`);
    }
  }
}

const whole = (message: string): Problem => ({ path: "", line: 0, column: 0, message });

const sentences: Readonly<Record<string, string>> = {
  InvalidSymbol: "this word or sign has no meaning here. Keys and text stand in double quotes.",
  InvalidNumberFormat: "this number is malformed.",
  PropertyNameExpected: "a key in double quotes is expected here.",
  ValueExpected: "a value is expected here.",
  ColonExpected: "a colon is expected here.",
  CommaExpected: "a comma is expected here, or the number before it starts with a 0.",
  CloseBraceExpected: 'a closing "}" is expected here.',
  CloseBracketExpected: 'a closing "]" is expected here.',
  EndOfFileExpected: "nothing may follow the outermost object.",
  UnexpectedEndOfComment: "this comment is not closed.",
  UnexpectedEndOfString: "this text has no closing quote on its line.",
  UnexpectedEndOfNumber: "this number is not complete.",
  InvalidUnicode: 'this "\\u" escape needs four hexadecimal digits.',
  InvalidEscapeCharacter: 'this escape is unknown. A backslash is written "\\\\".',
  InvalidCharacter: "this control character must be escaped.",
};
