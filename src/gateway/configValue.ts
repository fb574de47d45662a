import type { Node } from "jsonc-parser";
import { expandVariables } from "./configVariables.ts";
import { didYouMean } from "./nearest.ts";

/** The document that a value is part of. */
export interface ConfigSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Records a mistake. `offset` counts UTF-16 units from the start of the text. */
  problem(path: string, offset: number, message: string): void;
  /** The environment variable `name` is needed and not set. */
  unset(path: string, offset: number, name: string): void;
}

export interface TextOptions {
  /** Default: it must not be empty. */
  readonly allowEmpty?: boolean;
}

export interface IntegerRange {
  readonly min: number;
  readonly max: number;
}

/**
 * One value of a configuration, with its place. A reader answers undefined after it has reported why: the
 * document throws in the end, so that one run shows every mistake.
 */
export class ConfigValue {
  readonly path: string;
  readonly #document: ConfigSource;
  readonly #node: Node;

  constructor(document: ConfigSource, node: Node, path: string) {
    this.#document = document;
    this.#node = node;
    this.path = path;
  }

  get type(): string {
    return this.#node.type;
  }

  /** A plain value as written: no variable is replaced. */
  get raw(): unknown {
    return this.#node.value;
  }

  fail(message: string): undefined {
    this.#document.problem(this.path, this.#node.offset, message);
    return undefined;
  }

  boolean(): boolean | undefined {
    return this.type === "boolean" ? (this.raw as boolean) : this.#wrongType("true or false");
  }

  integer({ min, max }: IntegerRange): number | undefined {
    if (this.type !== "number") return this.#wrongType("a number");
    const value = this.raw as number;
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    return this.fail(`must be a whole number from ${min} to ${max}.`);
  }

  /** The same value; a variable that is not set is told to `unset` and is no mistake of the file. */
  withUnset(unset: (name: string) => void): ConfigValue {
    const document = this.#document;
    const source: ConfigSource = {
      env: document.env,
      problem: (path, offset, message) => document.problem(path, offset, message),
      unset: (_path, _offset, name) => unset(name),
    };
    return new ConfigValue(source, this.#node, this.path);
  }

  /** With its variables replaced; see `expandVariables`. */
  text(options: TextOptions = {}): string | undefined {
    if (this.type !== "string") return this.#wrongType("a string");
    const value = this.#expand(this.raw as string);
    if (value === undefined) return undefined;
    if (value === "" && options.allowEmpty !== true) return this.fail("must not be empty.");
    // Neither a path nor an argument can hold one.
    return value.includes("\0") ? this.fail("must not hold a NUL character.") : value;
  }

  /** A file or folder, absolute or relative. */
  filePath(): string | undefined {
    const value = this.text();
    if (value === undefined || !/^~(\/|$)/.test(value)) return value;
    return this.fail('"~" is not expanded: write ${env:HOME}/...');
  }

  texts(options: TextOptions = {}): string[] | undefined {
    return this.items()?.map((item) => item.text(options) ?? "");
  }

  items(): ConfigValue[] | undefined {
    if (this.type !== "array") return this.#wrongType("an array");
    const nodes = this.#node.children ?? [];
    return nodes.map((node, index) => new ConfigValue(this.#document, node, `${this.path}[${index}]`));
  }

  /** All members, in the order of the text. A key that is given twice is a mistake. */
  members(): Map<string, ConfigMember> | undefined {
    if (this.type !== "object") return this.#wrongType("an object");
    const members = new Map<string, ConfigMember>();
    for (const { children = [] } of this.#node.children ?? []) {
      const [keyNode, valueNode] = children;
      if (!keyNode || !valueNode) continue;
      const key = keyNode.value as string;
      const path = joinPath(this.path, key);
      const member = {
        value: new ConfigValue(this.#document, valueNode, path),
        failKey: (message: string) => this.#document.problem(path, keyNode.offset, message),
      };
      if (members.has(key)) member.failKey("is given twice. Remove one of them.");
      else members.set(key, member);
    }
    return members;
  }

  /** Whether it is an object with this member. */
  has(key: string): boolean {
    if (this.type !== "object") return false;
    return (this.#node.children ?? []).some(({ children }) => children?.[0]?.value === key);
  }

  /** The members of an object that has these and no others. `hint` says what an unknown one may be. */
  fields<Key extends string>(
    known: readonly Key[],
    hint: (value: ConfigValue) => string = () => "",
  ): Partial<Record<Key, ConfigValue>> | undefined {
    const members = this.members();
    if (!members) return undefined;
    const fields: Partial<Record<Key, ConfigValue>> = {};
    for (const [key, { value, failKey }] of members) {
      if (isOneOf(known, key)) fields[key] = value;
      else {
        const meant = hint(value) || didYouMean(key, known);
        failKey(`is not a known key.${meant || ` Known here: ${known.toSorted().join(", ")}.`}`);
      }
    }
    return fields;
  }

  oneOf<Choice extends string>(choices: readonly Choice[]): Choice | undefined {
    const value = this.text();
    if (value === undefined || isOneOf(choices, value)) return value;
    return this.fail(`must be one of ${choices.map((choice) => `"${choice}"`).join(", ")}.`);
  }

  #wrongType(wanted: string): undefined {
    const article = /^[ao]/.test(this.type) ? "an" : "a";
    return this.fail(`must be ${wanted}, not ${this.type === "null" ? "null" : `${article} ${this.type}`}.`);
  }

  #expand(raw: string): string | undefined {
    const { text, problems } = expandVariables(raw, this.#document.env);
    for (const problem of problems) {
      if ("mistake" in problem) this.fail(problem.mistake);
      else this.#document.unset(this.path, this.#node.offset, problem.unset);
    }
    return problems.length === 0 ? text : undefined;
  }
}

export interface ConfigMember {
  readonly value: ConfigValue;
  /** Reports a mistake at the key. */
  failKey(message: string): void;
}

function joinPath(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$-]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

function isOneOf<T extends string>(choices: readonly T[], text: string): text is T {
  return (choices as readonly string[]).includes(text);
}
