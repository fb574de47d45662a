/** One mistake, where it stands. */
export interface Problem {
  /** The JSON path, as `mcpServers.fs.args[0]`; "" is the whole. */
  readonly path: string;
  /** Both count from 1; 0 where the file as such is meant. */
  readonly line: number;
  readonly column: number;
  /** What is wrong and what to do. Never holds a value that came from the environment. */
  readonly message: string;
}

/** A configuration that cannot be used. Its message is ready to print: every problem, one a line. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly file: string;
  readonly problems: readonly Problem[];

  constructor(file: string, problems: readonly Problem[]) {
    super(problems.map((problem) => format(file, problem)).join("\n"));
    this.file = file;
    this.problems = problems;
  }
}

function format(file: string, { path, line, column, message }: Problem): string {
  const place = line === 0 ? file : `${file}:${line}:${column}`;
  return path === "" ? `${place}: ${message}` : `${place}: ${path}: ${message}`;
}
