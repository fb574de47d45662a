import type { JsonObject } from "./json.ts";

interface Primitives {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
}

type RequiredKeys<S> = S extends { required: readonly (infer K)[] } ? K : never;

/** One object type where there were several: what an editor shows. */
type Flat<T> = { [K in keyof T]: T[K] };

type ObjectOf<S, P> = Flat<
  {
    -readonly [K in keyof P as K extends RequiredKeys<S> ? K : never]: FromJsonSchema<P[K]>;
  } & {
    -readonly [K in keyof P as K extends RequiredKeys<S> ? never : K]?: FromJsonSchema<P[K]>;
  }
>;

/**
 * The type of what a JSON Schema literal accepts, for the keywords that people write by hand: `type`,
 * `properties`, `required`, `items`, `enum`, `const`. Whatever else a schema says is checked when a
 * call comes, and typed `unknown` here.
 */
export type FromJsonSchema<S> = S extends { const: infer C }
  ? C
  : S extends { enum: readonly (infer E)[] }
    ? E
    : S extends { type: infer T extends keyof Primitives }
      ? Primitives[T]
      : S extends { type: "array"; items: infer I }
        ? FromJsonSchema<I>[]
        : S extends { type: "array" }
          ? unknown[]
          : S extends { type: "object"; properties: infer P }
            ? ObjectOf<S, P>
            : S extends { type: "object" }
              ? JsonObject
              : string extends keyof S
                ? JsonObject
                : unknown;
