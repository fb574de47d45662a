import { ConfigError } from "../gateway/configError.ts";
import { didYouMean } from "../gateway/nearest.ts";
import { TokenError } from "../gateway/token.ts";
import { auth } from "./auth.ts";
import { call } from "./call.ts";
import { doctor } from "./doctor.ts";
import { RefusedError, UsageError } from "./flags.ts";
import { commandNames, helpText, isCommand, type CommandName } from "./help.ts";
import { exitCodes, type Io } from "./io.ts";
import { styleOf, writeLine } from "./output.ts";
import { serve } from "./serve.ts";
import { tools } from "./tools.ts";

const commands: Readonly<Record<CommandName, (argv: readonly string[], io: Io) => Promise<number>>> = {
  serve,
  tools,
  call,
  auth,
  doctor,
};

/** Runs one command line, without the program's name. Resolves with the exit code; never rejects. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(argv, io);
  } catch (error) {
    return report(error, argv[0], io);
  }
}

const versionWords = ["--version", "-v", "-V", "version"];

async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  const [first, ...rest] = argv;
  if (first === undefined) {
    io.stderr.write(helpText());
    return exitCodes.usage;
  }
  if (versionWords.includes(first)) return print(io, `${io.version}\n`);
  if (first === "--help" || first === "-h" || first === "help") return help(rest[0], io);
  if (!isCommand(first)) throw unknownCommand(first);
  if (rest.includes("--help") || rest.includes("-h")) return help(first, io);
  return commands[first](rest, io);
}

function help(command: string | undefined, io: Io): number {
  if (command === undefined) return print(io, helpText());
  if (!isCommand(command)) throw unknownCommand(command);
  return print(io, helpText(command));
}

function unknownCommand(word: string): UsageError {
  return new UsageError(`There is no command "${word}".${didYouMean(word, commandNames)}`);
}

function print(io: Io, text: string): number {
  io.stdout.write(text);
  return exitCodes.done;
}

/** What went wrong and what to do, never a stack trace unless it is asked for. */
function report(error: unknown, command: string | undefined, io: Io): number {
  const say = (line: string): void => writeLine(io.stderr, line);
  const label = styleOf(io.stderr, io.env).red("error");
  if (error instanceof UsageError) {
    say(`${label} ${error.message}`);
    say(`"toolgate help${isCommand(command) ? ` ${command}` : ""}" explains the usage.`);
    return exitCodes.usage;
  }
  if (error instanceof ConfigError) {
    say(`${label} The configuration cannot be used:`);
    say(error.message);
    return exitCodes.usage;
  }
  if (error instanceof TokenError || error instanceof RefusedError) {
    say(`${label} ${error.message}`);
    return exitCodes.usage;
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  say(`${label} ${message.split("\n")[0]}`);
  say(io.env["TOOLGATE_DEBUG"] ? (stack ?? "") : "TOOLGATE_DEBUG=1 shows where this comes from.");
  return exitCodes.unreachable;
}
