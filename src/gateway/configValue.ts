import type { Node } from "jsonc-parser";
import { didYouMean } from "./nearest.ts";

/** The document that a value is part of. */
export interface ConfigSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Records a mistake. `offset` counts UTF-16 units from the start of the text. */
  problem(path: string, offset: number, message: string): void;
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

  /** With `${env:NAME}` replaced. */
  text(options: TextOptions = {}): string | undefined {
    if (this.type !== "string") return this.#wrongType("a string");
    const value = this.#expand(this.raw as string);
    if (value === undefined) return undefined;
    if (value === "" && options.allowEmpty !== true) return this.fail("must not be empty.");
    // Neither a path nor an argument can hold one.
    return value.includes("\0") ? this.fail("must not hold a NUL character.") : value;
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

  /** The members of an object that has these and no others. */
  fields<Key extends string>(known: readonly Key[]): Partial<Record<Key, ConfigValue>> | undefined {
    const members = this.members();
    if (!members) return undefined;
    const fields: Partial<Record<Key, ConfigValue>> = {};
    for (const [key, { value, failKey }] of members) {
      if (isOneOf(known, key)) fields[key] = value;
      else
        failKey(
          `is not a known key.${didYouMean(key, known) || ` Known here: ${known.toSorted().join(", ")}.`}`,
        );
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

  #expand(text: string): string | undefined {
    let complete = true;
    const expanded = text.replace(variable, (_, kind: string, name: string | undefined) => {
      const value = kind === "env" && name ? this.#document.env[name] : undefined;
      if (value !== undefined) return value;
      complete = false;
      this.fail(explain(kind, name));
      return "";
    });
    return complete ? expanded : undefined;
  }
}

export interface ConfigMember {
  readonly value: ConfigValue;
  /** Reports a mistake at the key. */
  failKey(message: string): void;
}

const variable = /\$\{(env|input|workspaceFolder)(?::([^}]*))?\}/g;

function explain(kind: string, name: string | undefined): string {
  if (kind === "input")
    return `Toolgate cannot prompt for "\${input:${name ?? ""}}". Set an environment variable and write \${env:NAME}.`;
  if (kind === "workspaceFolder")
    return 'Toolgate has no "${workspaceFolder}". Write a path: "cwd" and "workspace" may be relative to this file.';
  if (!name) return "${env:} names no variable. Write ${env:NAME}.";
  return `the environment variable ${name} is not set. Set it, or remove \${env:${name}}.`;
}

function joinPath(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$-]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

function isOneOf<T extends string>(choices: readonly T[], text: string): text is T {
  return (choices as readonly string[]).includes(text);
}
