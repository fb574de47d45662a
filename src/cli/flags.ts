import { parseArgs, type ParseArgsConfig } from "node:util";
import { didYouMean } from "../gateway/nearest.ts";

/** The command line cannot be understood, or asks for what cannot be. Ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What was asked for is understood and cannot be had; the message says all. Ends with exit code 2. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
}

type Options = NonNullable<ParseArgsConfig["options"]>;

/** The flags and arguments of one command. Throws `UsageError`. */
export function parseFlags<const Flags extends Options>(
  argv: readonly string[],
  options: Flags,
  maxArguments = 0,
): ReturnType<typeof parseArgs<{ args: string[]; options: Flags; strict: true; allowPositionals: true }>> {
  const parsed = parse(argv, options);
  const surplus = parsed.positionals[maxArguments];
  if (surplus !== undefined) throw new UsageError(`"${surplus}" is one argument too many.`);
  return parsed;
}

function parse<const Flags extends Options>(
  argv: readonly string[],
  options: Flags,
): ReturnType<typeof parseArgs<{ args: string[]; options: Flags; strict: true; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code?.startsWith("ERR_PARSE_ARGS")) throw error;
    const flag = /'(-[^\s']+)/.exec(message)?.[1] ?? "";
    if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
      const known = Object.keys(options).map((name) => `--${name}`);
      throw new UsageError(`There is no flag ${flag}.${didYouMean(flag, known)}`);
    }
    throw new UsageError(`${message.split(". ")[0]!.split("\n")[0]!.replace(/\.$/, "")}.`);
  }
}
